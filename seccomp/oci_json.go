package seccomp

import (
	"errors"
	"slices"
	"strconv"
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
