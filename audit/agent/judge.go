package agent

import (
	"path"
	"slices"
	"strings"

	"sbx/spec"
)

// Rules are the spec's tools_allowed and tools_denied, parsed. sbx only reports calls that
// break them: the sandbox does not enforce them.
type Rules struct {
	agent   spec.Agent
	at      spec.Place
	limited bool     // the spec sets tools_allowed
	listed  []string // the patterns in it, unparsed
	allowed []spec.Tool
	denied  []spec.Tool
}

// Verdict is the result of judging a wish.
type Verdict struct {
	Outside   bool   // a rule forbids the wish
	Rule      string // that rule
	AllowWith string // the spec entry that would allow the wish; "" if no single one does
}

// NewRules parses the patterns of a spec. The spec's decoder has checked them; an invalid
// one is ignored. Relative paths in patterns count from at.
func NewRules(a spec.Agent, allowed, denied spec.Opt[[]string], at spec.Place) *Rules {
	r := &Rules{agent: a, at: at, limited: allowed.Set, listed: allowed.Value}
	for _, s := range allowed.Value {
		if t, ok := spec.ParseTool(s); ok {
			r.allowed = append(r.allowed, t)
		}
	}
	for _, s := range denied.Value {
		if t, ok := spec.ParseTool(s); ok {
			r.denied = append(r.denied, t)
		}
	}
	return r
}

// Judge decides whether the rules allow a wish. tools_denied takes precedence. Every tool
// in Wish.As must be allowed, with every target.
//
// A pattern in parentheses allows only targets that it certainly matches: it allows a
// command line if it allows each command in it, and the line does nothing else, such as a
// substitution, a group or writing to a file. It denies all targets that it may match: a
// command anywhere in the line, and a target that is incomplete.
func (r *Rules) Judge(w Wish) Verdict {
	for _, as := range w.As {
		for _, t := range r.denied {
			if r.names(t, as, w.Name) && r.denies(t, as, &w) {
				return Verdict{Outside: true, Rule: spec.Line("tools_denied", []string{t.String()})}
			}
		}
	}
	for _, as := range w.As {
		if r.limited && !r.allows(as, &w) {
			return Verdict{Outside: true, Rule: "tools_allowed", AllowWith: spec.Longer("tools_allowed", r.listed, as)}
		}
	}
	return Verdict{}
}

// names reports whether t names the tool that Claude calls as and the agent calls native.
// gemini joins the names of a server and its tool by one underscore.
func (r *Rules) names(t spec.Tool, as, native string) bool {
	if t.Names(as) || t.Names(native) {
		return true
	}
	rest, ok := strings.CutPrefix(t.Name, "mcp__")
	if r.agent != spec.Gemini || !ok {
		return false
	}
	name := strings.ReplaceAll(rest, "__", "_")
	one := spec.Tool{Name: "mcp_" + name}
	return one.Names(native) || !strings.Contains(rest, "__") && strings.HasPrefix(native, one.Name+"_")
}

func (r *Rules) allows(as string, w *Wish) bool {
	var about []spec.Tool
	for _, t := range r.allowed {
		if r.names(t, as, w.Name) {
			if t.Rule == "" {
				return true
			}
			about = append(about, t)
		}
	}
	targets := r.targets(as, w)
	if len(about) == 0 || w.Cut || len(targets) == 0 {
		return false
	}
	return !slices.ContainsFunc(targets, func(target string) bool { return !r.covered(about, as, target) })
}

// covered reports whether the patterns allow the target.
func (r *Rules) covered(about []spec.Tool, as, target string) bool {
	parts := []string{target}
	if isShell(as) {
		for _, t := range about {
			if t.Rule == target { // a pattern may name the whole line literally
				return true
			}
		}
		var plain bool
		if parts, plain = shellCommands(target); !plain {
			return false
		}
	}
	return !slices.ContainsFunc(parts, func(part string) bool { return !r.matched(about, part) })
}

func (r *Rules) matched(about []spec.Tool, target string) bool {
	return slices.ContainsFunc(about, func(t spec.Tool) bool { return t.Matches(target, r.at) })
}

func (r *Rules) denies(t spec.Tool, as string, w *Wish) bool {
	if t.Rule == "" || w.Cut {
		return true
	}
	for _, target := range r.targets(as, w) {
		suspects := []string{target}
		if isShell(as) {
			suspects = append(suspects, shellSuspects(target, 0)...)
		}
		for _, s := range suspects {
			if t.Matches(s, r.at) {
				return true
			}
		}
	}
	return false
}

func isShell(as string) bool { return as == "Bash" || as == "Monitor" }

// targets returns the targets of a wish, with absolute paths.
func (r *Rules) targets(as string, w *Wish) []string {
	switch as {
	case "Read", "Edit", "Write", "NotebookEdit":
	case "Grep", "Glob", "LS":
		if len(w.Targets) == 0 {
			return []string{r.at.Dir}
		}
	default:
		return w.Targets
	}
	paths := make([]string, 0, len(w.Targets))
	for _, p := range w.Targets {
		if !strings.HasPrefix(p, "/") {
			p = r.at.Dir + "/" + p
		}
		paths = append(paths, path.Clean(p))
	}
	return paths
}
