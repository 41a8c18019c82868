package seccomp

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// conditions are includes or excludes as written.
type conditions struct {
	caps, arches []string
	kernel       *[2]int
}

// syscall reads an entry of syscalls and adds its rules, if it applies.
func (d *document) syscall(path string, entry *doc.Node) {
	var r Rule
	act := &doc.Node{Pos: entry.Pos}
	var errno *uint64
	var includes, excludes *conditions
	var single bool
	if entry.Kind != doc.Object {
		d.fail(entry, path, "want an object")
		return
	}
	d.object(entry, path, func(name, path string, v *doc.Node) bool {
		switch name {
		case "names":
			r.Calls = append(r.Calls, d.texts(v, path)...)
		case "name":
			if v.Text != "" {
				r.Calls, single = append(r.Calls, d.text(v, path)), true
			}
		case "action":
			act = v
		case "errnoRet":
			errno = d.number(v, path)
		case "args":
			d.list(v, path, func(path string, v *doc.Node) { r.Args = append(r.Args, d.arg(path, v)) })
		case "comment":
			r.Why = d.text(v, path)
		case "includes":
			includes = d.conditions(v, path)
		case "excludes":
			excludes = d.conditions(v, path)
		default:
			return false
		}
		return true
	})
	if len(r.Calls) == 0 || single && len(r.Calls) > 1 {
		d.fail(entry, path, "want either names or name")
	}
	a, err := action(act.Text, errno, eperm)
	if err != nil {
		d.fail(act, path+".action", err.Error())
	}
	r.Do = a
	if r.Why == "" {
		r.Why = "the profile says so"
	}
	if a.Kind < Log {
		for _, name := range r.Calls {
			if !known(name) {
				d.fail(entry, path+".names", "no system call is named "+strconv.Quote(name))
			}
		}
	}
	if d.h.applies(includes, excludes) {
		d.add(r)
	}
}

// add adds a rule, without names that are not known. If two conditions are about the same argument,
// it adds a rule for each condition.
func (d *document) add(r Rule) {
	r.Calls = slices.DeleteFunc(r.Calls, func(name string) bool { return !known(name) })
	var seen [6]bool
	twice := false
	for _, g := range r.Args {
		twice = twice || seen[g.Index]
		seen[g.Index] = true
	}
	if !twice {
		d.rules = append(d.rules, r)
		return
	}
	for _, g := range r.Args {
		one := r
		one.Args = []Arg{g}
		d.rules = append(d.rules, one)
	}
}

// arg reads a condition. In a masked comparison value is the mask, and valueTwo the value of the
// masked bits.
func (d *document) arg(path string, entry *doc.Node) Arg {
	g := Arg{Wide: true}
	var v, two uint64
	var index *uint64
	if entry.Kind != doc.Object {
		d.fail(entry, path, "want an object")
		return g
	}
	d.object(entry, path, func(name, path string, val *doc.Node) bool {
		n := &v
		switch name {
		case "index":
			index = d.number(val, path)
			return true
		case "op":
			op, ok := opNamed(d.text(val, path))
			if !ok {
				d.fail(val, path, strconv.Quote(val.Text)+" is not a comparison")
			}
			g.Op = op
			return true
		case "value":
		case "valueTwo":
			n = &two
		default:
			return false
		}
		if p := d.number(val, path); p != nil {
			*n = *p
		}
		return true
	})
	switch {
	case index == nil || *index > 5:
		d.fail(entry, path+".index", "want the number of an argument, 0 to 5")
		return g
	case g.Op == 0:
		d.fail(entry, path+".op", "want a comparison")
	case g.Op == MaskedEqual && v == 0: // true of every value, or of none
		g = Arg{Wide: true, Op: GreaterEqual}
	case g.Op == MaskedEqual:
		g.Mask, g.Value = v, two&v
	default:
		g.Value = v
	}
	g.Index = int(*index)
	return g
}

// conditions reads includes or excludes.
func (d *document) conditions(v *doc.Node, path string) *conditions {
	var c conditions
	d.object(v, path, func(name, path string, v *doc.Node) bool {
		switch name {
		case "caps":
			c.caps = d.texts(v, path)
		case "arches":
			c.arches = d.texts(v, path)
		case "minKernel":
			if !d.is(v, doc.String, path) {
				return true
			}
			major, minor, _ := strings.Cut(v.Text, ".")
			x, err1 := strconv.ParseUint(major, 10, 16)
			y, err2 := strconv.ParseUint(minor, 10, 16)
			if err1 != nil || err2 != nil {
				d.fail(v, path, "want a kernel's version and patch level, as 4.8")
			}
			c.kernel = &[2]int{int(x), int(y)}
		default:
			return false
		}
		return true
	})
	return &c
}
