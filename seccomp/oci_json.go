package seccomp

import (
	"slices"
	"strconv"

	"sbx/internal/doc"
)

// document makes rules from a profile's values. It keeps the first error.
type document struct {
	name  string
	h     Conditions
	rules []Rule
	err   error
}

func (d *document) fail(n *doc.Node, path, why string) { d.failAt(n.Pos, path, why) }

func (d *document) failAt(at doc.Pos, path, why string) {
	if d.err == nil {
		d.err = &doc.Error{Name: d.name, Pos: at, Field: path, Why: why}
	}
}

// is reports whether v is of that kind. null counts as absent. Any other kind is an error.
func (d *document) is(v *doc.Node, kind doc.Kind, path string) bool {
	if v.Kind != kind && v.Kind != doc.Null {
		d.fail(v, path, "want "+kind.String())
	}
	return v.Kind == kind
}

// object calls do for each member of v, with its path. If do returns false, the member is unknown.
func (d *document) object(v *doc.Node, path string, do func(name, path string, v *doc.Node) bool) {
	if !d.is(v, doc.Object, path) {
		return
	}
	for i := range v.Members {
		m := &v.Members[i]
		if path == "" && m.Key == "$schema" { // for editors
			continue
		}
		if !do(m.Key, doc.Join(path, m.Key), m.Value) {
			d.failAt(m.KeyPos, path, "there is no field "+strconv.Quote(m.Key))
		}
	}
}

// list calls do for each value of v, with its path.
func (d *document) list(v *doc.Node, path string, do func(path string, v *doc.Node)) {
	if !d.is(v, doc.List, path) {
		return
	}
	for i, e := range v.Items {
		do(path+"["+strconv.Itoa(i)+"]", e)
	}
}

func (d *document) text(v *doc.Node, path string) string {
	d.is(v, doc.String, path)
	return v.Text
}

func (d *document) texts(v *doc.Node, path string) []string {
	var all []string
	d.list(v, path, func(path string, v *doc.Node) {
		if v.Kind != doc.String {
			d.fail(v, path, "want a string")
		}
		all = append(all, v.Text)
	})
	return all
}

// number returns a whole number from 0 to 2^64-1; nil if there is none.
func (d *document) number(v *doc.Node, path string) *uint64 {
	if !d.is(v, doc.Number, path) {
		return nil
	}
	n, err := strconv.ParseUint(v.Text, 10, 64)
	if err != nil {
		d.fail(v, path, "want a whole number from 0 to 18446744073709551615")
		return nil
	}
	return &n
}

// profile reads the top level and returns the default action.
func (d *document) profile(v *doc.Node) Action {
	var none doc.Node
	def, calls, arches, archMap := &none, &none, &none, &none
	var errno *uint64
	if v.Kind != doc.Object {
		d.fail(v, "", "want an object")
		return Action{}
	}
	d.object(v, "", func(name, path string, v *doc.Node) bool {
		switch name {
		case "defaultAction":
			def = v
		case "defaultErrnoRet":
			errno = d.number(v, path)
		case "architectures":
			arches = v
			d.architectures(d.texts(v, path), v, path)
		case "archMap":
			archMap = v
			d.archMap(v, path)
		case "flags":
			for _, flag := range d.texts(v, path) {
				if !slices.Contains(flags[:], flag) {
					d.fail(v, path, "sbx does not load filters with "+strconv.Quote(flag))
				}
			}
		case "listenerPath", "listenerMetadata":
			if d.text(v, path) != "" {
				d.fail(v, path, "a filter can have only one listener: sbx's")
			}
		case "syscalls":
			calls = v
		default:
			return false
		}
		return true
	})
	if len(arches.Items) > 0 && len(archMap.Items) > 0 {
		d.fail(archMap, "archMap", "architectures is there as well, and only one of them may be")
	}
	if def.Kind == 0 || def.Kind == doc.Null {
		d.fail(v, "", "there is no defaultAction")
		return Action{}
	}
	a, err := action(d.text(def, "defaultAction"), nil, eperm)
	if err != nil {
		d.fail(def, "defaultAction", err.Error())
	}
	if errno != nil && a.Kind == Errno { // Docker's profiles may have an errno with another action
		if a, err = action("SCMP_ACT_ERRNO", errno, eperm); err != nil {
			d.fail(def, "defaultErrnoRet", err.Error())
		}
	}
	if calls.Kind != 0 {
		d.list(calls, "syscalls", d.syscall)
	}
	return a
}

func (d *document) architectures(names []string, v *doc.Node, path string) {
	for _, name := range names {
		if !slices.Contains(architectures[:], name) {
			d.fail(v, path, strconv.Quote(name)+" is not an architecture")
		}
	}
}

func (d *document) archMap(v *doc.Node, path string) {
	d.list(v, path, func(path string, v *doc.Node) {
		d.object(v, path, func(name, path string, v *doc.Node) bool {
			switch name {
			case "architecture":
				d.architectures([]string{d.text(v, path)}, v, path)
			case "subArchitectures":
				d.architectures(d.texts(v, path), v, path)
			default:
				return false
			}
			return true
		})
	})
}
