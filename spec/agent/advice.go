package agent

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// Advice returns lines for a person whose agent starts in a sandbox with a private layer of the
// home directory: parts of its configuration that will fail there, and state that it will lose.
// asks is true if the agent has a terminal on which it can ask, unless its arguments prevent that.
func Advice(a spec.Agent, at Place, args []string, asks bool) []string {
	ad := find(a)
	if ad.agent == 0 {
		return nil
	}
	name := a.String()
	var all []string
	state := ad.placeOf(ad.needs[0], at.Home, strings.TrimRight(at.Get(ad.home), "/"))
	asks = asks && !slices.ContainsFunc(args, func(w string) bool { return w == "-p" || w == "--print" || w == "exec" })
	if state != "" && !at.There(state) && (asks || a == spec.Codex) {
		what := "what it keeps, a sign-in too, ends with the sandbox"
		if a == spec.Codex {
			what += ", and its turns are not counted"
		}
		all = append(all, name+"'s directory "+tilde(state, at.Home)+" is not there: "+what, "hint: let "+name+" run once without sbx")
	}
	if a != spec.Claude {
		return all
	}
	if from := at.claudeSandbox(state); from != "" && at.onPath("bwrap") && at.onPath("socat") { // without these two claude itself reports that it has no sandbox
		all = append(all, "claude's own sandbox is on ("+tilde(from, at.Home)+") and cannot start inside this one: its Bash commands fail",
			`hint: claude --settings '{"sandbox": {"enabled": false}}' turns it off for this run`)
	}
	if !asks {
		return all
	}
	signed := at.There(state+"/.credentials.json") || slices.ContainsFunc(ad.pass, func(v string) bool { return !strings.HasSuffix(v, "_URL") && at.Get(v) != "" })
	if len(all) == 0 && !signed {
		all = append(all, "claude has not signed in: a /login in the sandbox ends with it", "hint: sign in once without sbx")
	}
	if !at.claudeTrusts() {
		all = append(all, "claude asks in each sandbox anew whether this directory is trusted", "hint: answer it once without sbx")
	}
	return all
}

// claudeSandbox returns the file or the flag that switches claude's own sandbox on; "" if it is
// off. The first one that sets it counts.
func (at *Place) claudeSandbox(state string) string {
	paths := []string{"/etc/claude-code/managed-settings.json"}
	for i := range at.Typed.settings { // the last one overrides the others
		paths = append(paths, at.Typed.settings[len(at.Typed.settings)-1-i])
	}
	paths = append(paths, at.Start+"/.claude/settings.local.json", at.Start+"/.claude/settings.json", state+"/settings.json")
	for _, path := range paths {
		on := document(path, at.text).Get("sandbox").Get("enabled")
		switch {
		case on == nil:
		case on.Text != "true":
			return ""
		case slices.Contains(at.Typed.settings, path):
			return "--settings"
		default:
			return path
		}
	}
	return ""
}

// claudeTrusts reports whether the user told claude to trust its starting directory, or one above
// it.
func (at *Place) claudeTrusts() bool {
	path := at.Home + "/.claude.json"
	if moved := at.Get("CLAUDE_CONFIG_DIR"); moved != "" {
		path = moved + "/.claude.json"
	}
	n, err := doc.ParseLaxJSON(path, at.text(path), 100)
	if err != nil {
		return false
	}
	projects := n.Get("projects")
	return slices.ContainsFunc(upwards(at.Start), func(dir string) bool {
		trusts := projects.Get(dir).Get("hasTrustDialogAccepted")
		return trusts != nil && trusts.Text == "true"
	})
}

// tilde returns a path with ~ for the home directory.
func tilde(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && home != "" {
		return "~/" + rest
	}
	return path
}

// onPath reports whether a directory of PATH has a program of that name.
func (at *Place) onPath(name string) bool {
	return slices.ContainsFunc(strings.Split(at.Get("PATH"), ":"), func(dir string) bool { return dir != "" && at.There(dir+"/"+name) })
}
