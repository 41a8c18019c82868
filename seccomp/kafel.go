package seccomp

import (
	"slices"
	"strconv"
)

// AppendKafel appends the default filter as a policy of Kafel, the language that nsjail takes on
// its command line. Calls are written as numbers, since Kafel knows only the names of its release.
// The first rule that matches wins there, and a call that no rule names is answered like a number
// that no kernel has.
//
// One thing it cannot express: a call through another architecture's entry ends the thread instead
// of the process.
func AppendKafel(dst []byte, o Options, a Arch) []byte {
	o.Notify = NotifyNone // in a policy there is no supervisor to ask
	f := Default(o)
	spans, err := f.spans(a)
	if err != nil {
		return dst // an architecture without calls
	}
	k := kafelWriter{b: dst}
	always := map[Action][]uint32{}
	var order []Action
	for i, s := range spans[:len(spans)-1] {
		for nr := s.first; nr < spans[i+1].first; nr++ {
			for _, r := range s.checks {
				k.rule(r.Do, nr, r.Args)
			}
			if s.rest == f.unknown() {
				continue
			}
			if always[s.rest] == nil {
				order = append(order, s.rest)
			}
			always[s.rest] = append(always[s.rest], nr)
		}
	}
	for _, do := range order {
		for _, nr := range always[do] {
			k.rule(do, nr, nil)
		}
	}
	k.end()
	return append(append(k.b, "DEFAULT "...), kafelAction(f.unknown())...)
}

// kafelAction returns Kafel's name of an action. The default filter has no other actions if nothing
// is notified.
func kafelAction(do Action) string {
	if do.Kind == Allow {
		return "ALLOW"
	}
	return "ERRNO(" + strconv.Itoa(int(do.Errno)) + ")"
}

// kafelWriter writes blocks of rules with one action each.
type kafelWriter struct {
	b    []byte
	open bool
	do   Action
}

func (k *kafelWriter) end() {
	if k.open {
		k.b = append(k.b, "} "...)
	}
}

func (k *kafelWriter) rule(do Action, nr uint32, args []Arg) {
	if k.open && k.do == do {
		k.b = append(k.b, ',')
	} else {
		k.end()
		k.open, k.do = true, do
		k.b = append(append(k.b, kafelAction(do)...), '{')
	}
	k.b = append(k.b, "SYSCALL["+strconv.Itoa(int(nr))+"]"...)
	if len(args) == 0 {
		return
	}
	last := slices.MaxFunc(args, func(x, y Arg) int { return x.Index - y.Index }).Index
	for i := range last + 1 {
		k.b = append(k.b, "(,"[min(i, 1)], kafelNames[i])
	}
	k.b = append(k.b, "){"...)
	for i, g := range args {
		k.b = append(k.b, []string{"", "&&"}[min(i, 1)]...)
		k.b = append(k.b, kafelTest(g)...)
	}
	k.b = append(k.b, '}')
}

// kafelNames are the names of a call's arguments.
const kafelNames = "abcdef"

// kafelTest returns a condition. Values there have 64 bits: the mask keeps the bits that reach the
// call.
func kafelTest(g Arg) string {
	hex := func(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
	mask, op, value := uint64(low), "==", g.Value
	switch g.Op {
	case NotEqual:
		op = "!="
	case Less:
		op = "<"
	case LessEqual:
		op = "<="
	case Greater:
		op = ">"
	case GreaterEqual:
		op = ">="
	case MaskedEqual:
		mask = g.Mask
	case AnyBits:
		mask, op, value = g.Mask, "!=", 0
	}
	if g.Wide && g.Op != MaskedEqual && g.Op != AnyBits {
		mask = ^uint64(0)
	}
	return "(" + kafelNames[g.Index:g.Index+1] + "&" + hex(mask) + ")" + op + hex(value)
}
