package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Rewrite puts flags in front of an agent's own arguments. What the caller typed
// stays, but for what would contradict itself: said tells of it, a sentence each.
func Rewrite(a spec.Agent, args, flags []string) (all, said []string) {
	ad := find(a)
	if ad == nil || len(flags) == 0 {
		return args, nil
	}
	typed := ReadArgs(a, args)
	if ad.replaced && typed.Bypass != "" && typed.Mode == "" { // it says what ours would
		flags = without(flags, ad.mode())
		return append(slices.Clone(flags), args...), nil
	}
	if !ad.replaced && typed.Mode != "" && overlaps(flags, ad.mode()) {
		args = without(args, ad.mode())
		said = append(said, typed.ModeAt+" "+typed.Mode+" is left out: the spec's tools decide it")
	}
	if ad.replaced && typed.Mode != "" {
		args = without(args, ad.mode())
		if i := slices.IndexFunc(flags, func(f string) bool { return f == typed.Mode }); i < 0 {
			said = append(said, typed.ModeAt+" "+typed.Mode+" is left out: "+a.String()+"'s own sandbox cannot start inside this one, which holds as much")
		}
	}
	return append(slices.Clone(flags), args...), said
}

// mode is the option that says the agent's own sandbox.
func (ad *adapter) mode() []option {
	return slices.DeleteFunc(slices.Clone(ad.options), func(o option) bool { return o.means != isMode })
}

// overlaps tells whether flags have one of the options, claude's aside: of two
// it takes the last, which is the caller's.
func overlaps(flags []string, options []option) bool {
	return slices.ContainsFunc(options, func(o option) bool {
		return slices.ContainsFunc(o.names, func(n string) bool { return n == "--approval-mode" && slices.Contains(flags, n) })
	})
}

// without leaves options and their values out, up to "--".
func without(args []string, options []option) []string {
	var left []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(left, args[i:]...)
		}
		word, _, given := strings.Cut(args[i], "=")
		at := slices.IndexFunc(options, func(o option) bool { return slices.Contains(o.names, word) })
		if at < 0 {
			left = append(left, args[i])
		} else if options[at].value && !given {
			i++
		}
	}
	return left
}
