package seccomp

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// document turns a profile's values into rules. The first error stays.
type document struct {
	h     Conditions
	rules []Rule
	err   error
}

// fieldError is what is wrong with a field of the document.
type fieldError struct {
	at   int
	path string
	err  error
}

func (e *fieldError) Error() string { return e.path + ": " + e.err.Error() }

func (d *document) fail(at int, path string, err error) {
	if d.err == nil {
		d.err = &fieldError{at: at, path: path, err: err}
	}
}

// conditions are includes or excludes as written.
type conditions struct {
	caps, arches []string
	kernel       *[2]int
}

// types names the kinds of value for messages.
var types = [...]struct {
	kind byte
	name string
}{{'{', "an object"}, {'[', "a list"}, {'"', "a string"}, {'0', "a number"}}

// is tells whether v is of that kind. null is no value: not there. Any other
// kind is an error.
func (d *document) is(v value, kind byte, path string) bool {
	if v.kind == kind || v.kind == 'n' {
		return v.kind == kind
	}
	for _, t := range types {
		if t.kind == kind {
			d.fail(v.at, path, errors.New("want "+t.name))
		}
	}
	return false
}

// object hands each member of v to do, with its path. A member for which do
// answers false is unknown.
func (d *document) object(v value, path string, do func(name, path string, v value) bool) {
	if !d.is(v, '{', path) {
		return
	}
	for _, f := range v.fields {
		at := f.name
		if path != "" {
			at = path + "." + f.name
		}
		if !do(f.name, at, f.value) {
			d.fail(f.at, path, errors.New("there is no field "+strconv.Quote(f.name)))
		}
	}
}

// list hands each value of v to do, with its path.
func (d *document) list(v value, path string, do func(path string, v value)) {
	if !d.is(v, '[', path) {
		return
	}
	for i, e := range v.list {
		do(path+"["+strconv.Itoa(i)+"]", e)
	}
}

func (d *document) text(v value, path string) string {
	d.is(v, '"', path)
	return v.text
}

func (d *document) texts(v value, path string) []string {
	var all []string
	d.list(v, path, func(path string, v value) {
		if v.kind != '"' {
			d.fail(v.at, path, errors.New("want a string"))
		}
		all = append(all, v.text)
	})
	return all
}

// number is a whole number from 0 to 2^64-1; nil where there is none.
func (d *document) number(v value, path string) *uint64 {
	if !d.is(v, '0', path) {
		return nil
	}
	n, err := strconv.ParseUint(v.text, 10, 64)
	if err != nil {
		d.fail(v.at, path, errors.New("want a whole number from 0 to 18446744073709551615"))
		return nil
	}
	return &n
}

// profile reads the top level and returns the default action.
func (d *document) profile(v value) Action {
	var def, calls, arches, archMap value
	var errno *uint64
	if v.kind != '{' {
		d.fail(v.at, "", errors.New("want an object"))
		return Action{}
	}
	d.object(v, "", func(name, path string, v value) bool {
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
					d.fail(v.at, path, errors.New("sbx does not load filters with "+strconv.Quote(flag)))
				}
			}
		case "listenerPath", "listenerMetadata":
			if d.text(v, path) != "" {
				d.fail(v.at, path, errors.New("a filter can have only one listener: sbx's"))
			}
		case "syscalls":
			calls = v
		default:
			return false
		}
		return true
	})
	if len(arches.list) > 0 && len(archMap.list) > 0 {
		d.fail(archMap.at, "archMap", errors.New("architectures is there as well, and only one of them may be"))
	}
	if def.kind == 0 || def.kind == 'n' {
		d.fail(v.at, "", errors.New("there is no defaultAction"))
		return Action{}
	}
	a, err := action(d.text(def, "defaultAction"), nil, eperm)
	if err != nil {
		d.fail(def.at, "defaultAction", err)
	}
	if errno != nil && a.Kind == Errno { // Docker's profiles may leave it there beside another action
		if a, err = action("SCMP_ACT_ERRNO", errno, eperm); err != nil {
			d.fail(def.at, "defaultErrnoRet", err)
		}
	}
	if calls.kind != 0 {
		d.list(calls, "syscalls", d.syscall)
	}
	return a
}

func (d *document) architectures(names []string, v value, path string) {
	for _, name := range names {
		if !slices.Contains(architectures[:], name) {
			d.fail(v.at, path, errors.New(strconv.Quote(name)+" is no architecture"))
		}
	}
}

func (d *document) archMap(v value, path string) {
	d.list(v, path, func(path string, v value) {
		d.object(v, path, func(name, path string, v value) bool {
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

// syscall reads one entry of syscalls and, where it applies, adds its rules.
func (d *document) syscall(path string, entry value) {
	var r Rule
	var act value
	var errno *uint64
	var includes, excludes *conditions
	var single bool
	if entry.kind != '{' {
		d.fail(entry.at, path, errors.New("want an object"))
		return
	}
	d.object(entry, path, func(name, path string, v value) bool {
		switch name {
		case "names":
			r.Calls = append(r.Calls, d.texts(v, path)...)
		case "name":
			if v.text != "" {
				r.Calls, single = append(r.Calls, d.text(v, path)), true
			}
		case "action":
			act = v
		case "errnoRet":
			errno = d.number(v, path)
		case "args":
			d.list(v, path, func(path string, v value) { r.Args = append(r.Args, d.arg(path, v)) })
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
		d.fail(entry.at, path, errors.New("want either names or name"))
	}
	a, err := action(act.text, errno, eperm)
	if err != nil {
		d.fail(max(act.at, entry.at), path+".action", err)
	}
	r.Do = a
	if r.Why == "" {
		r.Why = "the profile says so"
	}
	if a.Kind < Log {
		for _, name := range r.Calls {
			if !known(name) {
				d.fail(entry.at, path+".names", errors.New("no system call is named "+strconv.Quote(name)))
			}
		}
	}
	if d.h.applies(includes, excludes) {
		d.add(r)
	}
}

// add keeps a rule, without the names that are not known: one rule for each
// condition where two are about the same argument.
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

// arg reads a condition. Of a masked comparison value is the mask, and
// valueTwo what is left must be.
func (d *document) arg(path string, entry value) Arg {
	g := Arg{Wide: true}
	var v, two uint64
	var index *uint64
	if entry.kind != '{' {
		d.fail(entry.at, path, errors.New("want an object"))
		return g
	}
	d.object(entry, path, func(name, path string, val value) bool {
		n := &v
		switch name {
		case "index":
			index = d.number(val, path)
			return true
		case "op":
			op, ok := opNamed(d.text(val, path))
			if !ok {
				d.fail(val.at, path, errors.New(strconv.Quote(val.text)+" is no comparison"))
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
		d.fail(entry.at, path+".index", errors.New("want the number of an argument, 0 to 5"))
		return g
	case g.Op == 0:
		d.fail(entry.at, path+".op", errors.New("want a comparison"))
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
func (d *document) conditions(v value, path string) *conditions {
	var c conditions
	d.object(v, path, func(name, path string, v value) bool {
		switch name {
		case "caps":
			c.caps = d.texts(v, path)
		case "arches":
			c.arches = d.texts(v, path)
		case "minKernel":
			if !d.is(v, '"', path) {
				return true
			}
			major, minor, _ := strings.Cut(v.text, ".")
			x, err1 := strconv.ParseUint(major, 10, 16)
			y, err2 := strconv.ParseUint(minor, 10, 16)
			if err1 != nil || err2 != nil {
				d.fail(v.at, path, errors.New("want a kernel's version and patch level, as 4.8"))
			}
			c.kernel = &[2]int{int(x), int(y)}
		default:
			return false
		}
		return true
	})
	return &c
}
