package agent

import (
	"slices"

	"sbx/spec"
)

// Rewrite puts sbx's flags in front of the caller's arguments to an agent. It removes an argument
// only if it contradicts the flags; said has a sentence about each that it removed.
func Rewrite(a spec.Agent, args, flags []string) (all, said []string) {
	ad := find(a)
	if ad.agent == 0 || len(flags) == 0 {
		return args, nil
	}
	typed := ReadArgs(a, args)
	ours := ReadArgs(a, flags).Mode
	switch {
	case !ad.replaced:
		// Of two modes, claude uses the last, which is the caller's; gemini rejects both.
		if typed.Mode != "" && ours != "" && ad.parser == yargs {
			args = ad.withoutMode(args)
			if typed.Mode != ours {
				said = append(said, typed.ModeAt+" is left out: the spec's tools decide it")
			}
		}
	case typed.Bypass != "" && typed.Mode == "": // it means the same as our mode
		flags = ad.withoutMode(flags)
	case typed.Mode != "" && ours != "":
		args = ad.withoutMode(args)
		switch {
		case typed.Mode == ours:
		case slices.Contains(ad.bypassModes, ours):
			said = append(said, typed.ModeAt+" is left out: "+a.String()+"'s own sandbox cannot start inside this one, which stands in its place")
		default:
			said = append(said, typed.ModeAt+" is left out: the spec's tools make it "+ours)
		}
	}
	return append(slices.Clone(flags), args...), said
}

// withoutMode removes options that set a mode, and their values, up to "--".
func (ad *adapter) withoutMode(args []string) []string {
	var left []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(left, args[i:]...)
		}
		switch o, _, _, given := ad.option(args[i]); {
		case o == nil || o.means != isMode:
			left = append(left, args[i])
		case o.value && !given:
			i++
		}
	}
	return left
}
