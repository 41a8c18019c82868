package seccomp

import (
	"math/bits"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// AppendOCI appends the default filter as linux.seccomp of a runtime-spec config.json, for runtimes
// that load a filter themselves (runc, crun). Decisions by arguments become lists of allowed
// values. A list of denied values would leave doors open, because such a profile compares 64 bits,
// and several conditions on one argument are alternatives there.
func AppendOCI(dst []byte, o Options, a Arch) []byte {
	o.Notify = NotifyNone // in a profile there is no supervisor to ask
	f := Default(o)
	w := profileWriter{b: dst}
	w.b = append(w.b, `{"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 1, "architectures": ["`+ociArch[a]+`"], "syscalls": [`...)
	var allowed, absent []string
	var asked []string
	for nr := range arches[a].byNumber {
		name, ok := a.Name(uint32(nr))
		if !ok {
			continue
		}
		if f.conditional(name) {
			asked = append(asked, name)
			continue
		}
		switch do, _ := f.Verdict(Call{Arch: arches[a].audit, Nr: uint32(nr)}); {
		case do.Kind == Allow:
			allowed = append(allowed, name)
		case do == noSuchCall:
			absent = append(absent, name)
		}
	}
	w.rule(allowed, "SCMP_ACT_ALLOW", 0, nil)
	w.rule(absent, "SCMP_ACT_ERRNO", int(unix.ENOSYS), nil)
	for _, name := range asked {
		for _, args := range f.allows(a, name) {
			w.rule([]string{name}, "SCMP_ACT_ALLOW", 0, args)
		}
	}
	return append(w.b, "]}"...)
}

var ociArch = [...]string{AMD64: "SCMP_ARCH_X86_64", ARM64: "SCMP_ARCH_AARCH64"}

// conditional reports whether the verdict on a call depends on its arguments.
func (f Filter) conditional(name string) bool {
	return slices.ContainsFunc(f.Rules, func(r Rule) bool { return len(r.Args) > 0 && slices.Contains(r.Calls, name) })
}

// part is a class of values of one argument: those whose bits of Mask are Value.
type part struct {
	index       int
	mask, value uint64
}

// dimension divides the values of an argument into classes, so that the result of every rule of the
// filter is the same within a class. Values in no class are denied.
type dimension struct {
	index  int
	mask   uint64
	values []uint64
	rest   bool // values outside of the classes may be allowed as well; then the profile has no condition on the argument
}

const low = 0xffffffff

// dimensions returns the arguments on which the filter has conditions, for a call. export_test.go
// checks that every such call is here.
func dimensions(name string) []dimension {
	upTo := func(n uint64) (all []uint64) {
		for v := range n {
			all = append(all, v)
		}
		return all
	}
	formats := upTo(16) // of S_IFMT, also those that the kernel does not have
	for i := range formats {
		formats[i] <<= 12
	}
	switch name {
	case "clone":
		return []dimension{{0, newNamespaces, []uint64{0}, false}}
	case "prlimit64":
		return []dimension{{0, low, []uint64{0}, false}}
	case "socket", "socketpair":
		return []dimension{
			{0, low, []uint64{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}, false},
			{1, sockType, upTo(sockType + 1), false},
			{2, low, []uint64{unix.NETLINK_ROUTE}, true},
		}
	case "mknod":
		return []dimension{{1, unix.S_IFMT, formats, false}, {2, low, []uint64{0}, true}}
	case "mknodat":
		return []dimension{{2, unix.S_IFMT, formats, false}, {3, low, []uint64{0}, true}}
	}
	return nil
}

// exceptions returns the only values of a call's argument with which it is denied.
func exceptions(name string) (index int, but []requests) {
	switch name {
	case "ioctl":
		return 1, []requests{only(unix.TIOCSTI), only(tioclinux), btrfsVolumes, bcachefsVolumes, only(addFileKey), removeFileKey}
	case "fcntl":
		return 1, []requests{leases}
	case "setpriority":
		return 0, []requests{only(unix.PRIO_PGRP)}
	case "ioprio_set":
		return 0, []requests{only(ioprioGroup)}
	}
	return 0, nil
}

// allows lists the conditions under which a call is allowed, a rule for each.
func (f Filter) allows(a Arch, name string) (rules [][]part) {
	nr, _ := a.Number(name) // the caller has it from the table
	verdict := func(args [6]uint64) bool {
		do, _ := f.Verdict(Call{Arch: arches[a].audit, Nr: nr, Args: args})
		return do.Kind == Allow
	}
	if index, but := exceptions(name); but != nil {
		for _, p := range outside(index, but...) {
			rules = append(rules, []part{p})
		}
		return rules
	}
	dims := dimensions(name)
	var walk func(i int, args [6]uint64, so []part)
	walk = func(i int, args [6]uint64, so []part) {
		if i == len(dims) {
			if verdict(args) {
				rules = append(rules, slices.Clone(so))
			}
			return
		}
		d := dims[i]
		if d.rest {
			other := args
			other[d.index] = 1 << 20 // in none of the classes
			if verdict(other) {
				walk(i+1, other, so)
				return
			}
		}
		for _, v := range d.values {
			args[d.index] = v
			walk(i+1, args, append(so, part{d.index, d.mask, v}))
		}
	}
	walk(0, [6]uint64{}, nil)
	return rules
}

// only returns a set of one request.
func only(v uint64) requests { return requests{low, v} }

// outside returns classes that together contain all 32-bit values of an argument except these.
func outside(index int, but ...requests) (parts []part) {
	var walk func(mask, value uint64)
	walk = func(mask, value uint64) {
		bit := uint64(0)
		for _, r := range but {
			if (r.value^value)&r.mask&mask != 0 {
				continue // they have nothing in common
			}
			if r.mask&^mask == 0 {
				return // all of them are denied
			}
			if bit == 0 {
				bit = 1 << (bits.Len64(r.mask&^mask) - 1)
			}
		}
		if bit == 0 {
			parts = append(parts, part{index, mask, value})
			return
		}
		walk(mask|bit, value)
		walk(mask|bit, value|bit)
	}
	walk(0, 0)
	return parts
}

// profileWriter writes the rules of a profile.
type profileWriter struct {
	b    []byte
	some bool
}

func (w *profileWriter) rule(names []string, action string, errno int, args []part) {
	if len(names) == 0 {
		return
	}
	if w.some {
		w.b = append(w.b, ", "...)
	}
	w.some = true
	w.b = append(w.b, `{"names": [`...)
	for i, n := range names {
		if i > 0 {
			w.b = append(w.b, ", "...)
		}
		w.b = append(w.b, `"`+n+`"`...)
	}
	w.b = append(w.b, `], "action": "`+action+`"`...)
	if errno != 0 {
		w.b = append(w.b, `, "errnoRet": `+strconv.Itoa(errno)...)
	}
	for i, p := range args {
		w.b = append(w.b, []string{`, "args": [`, `, `}[min(i, 1)]...)
		w.b = append(w.b, `{"index": `+strconv.Itoa(p.index)+`, "value": `+strconv.FormatUint(p.mask, 10)+
			`, "valueTwo": `+strconv.FormatUint(p.value, 10)+`, "op": "SCMP_CMP_MASKED_EQ"}`...)
	}
	if len(args) > 0 {
		w.b = append(w.b, ']')
	}
	w.b = append(w.b, '}')
}
