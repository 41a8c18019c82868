package run

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/internal/doc"
	"sbx/internal/sys"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
)

// Denied is an act that a run was denied, from its record.
type Denied struct {
	Kind, Program, Action, Target, Rule, Line string
	Count                                     int

	Opens string // the whole directory that the line opens
	Aside bool   // the act is reported, and no line is searched for
	Alone string // the line that would suffice if the file existed before the start
}

// Denials returns the denied acts of a record.
func Denials(list []audit.Violation) (all []Denied) {
	for i := range list {
		v := &list[i]
		all = append(all, Denied{Kind: v.Kind, Program: v.Program, Action: v.Action, Target: v.Target, Rule: v.Rule, Line: v.AllowWith, Count: v.Count})
	}
	return all
}

// SortDenied sorts acts by how much the lines for them open: the deepest path first, and
// at the same depth a write to an existing file before the creation of one.
func SortDenied(all []Denied) {
	slices.SortStableFunc(all, func(a, b Denied) int { return a.width() - b.width() })
}

func (d *Denied) width() int {
	if d.Action == "open for writing" {
		return -2 * strings.Count(d.Target, "/")
	}
	return 1 - 2*strings.Count(d.Target, "/")
}

// IsSecret reports whether a secret was denied, and not another read-only file in a
// secret's directory.
func (x *Prepared) IsSecret(d *Denied) bool {
	return d.Rule == string(wrap.FieldSecrets) && (d.Target == "" || x.Plan.View.At(d.Target).Access < view.Read ||
		x.Inputs.Lists.Secret(d.Target, x.Inputs.Home))
}

// Suggestion is a document under which a run would not have been denied those acts.
type Suggestion struct {
	Document *spec.Node
	Changes  []doc.Change
	For      map[string]Denied // by the text of a change: the first act that it allows
	Left     []Denied          // the acts that no line allows
}

// Suggest finds the fewest lines to add to a's last document so that nothing of denied is
// denied. It tries each line: it plans the edited document for this host. again returns a
// with another last document. If each is true, a line stays although a later one allows
// more, so that a person who deletes the later one keeps the rest.
func Suggest(a *Ask, denied []Denied, each bool, again func(*spec.SandboxSpec) (*Ask, error)) (Suggestion, error) {
	p, err := Try(a)
	if err != nil {
		return Suggestion{}, err
	}
	last := a.Documents[len(a.Documents)-1]
	s := search{again: again, name: last.Source, base: last.Node(), now: last.Node(), plan: p, budget: budget(denied)}
	out := Suggestion{For: map[string]Denied{}}
	for i := range denied {
		d, before := denied[i], s.now
		if d.Aside || !s.allow(&d) {
			if act, known := d.act(); known && !d.Aside {
				d.Rule = cmp.Or(d.Rule, s.plan.Plan.Explain(s.plan.Resolved, act).Rule)
				if act.Kind == wrap.ToMake && s.tried < maxSuggested {
					d.Alone = s.plan.newAdviser().OnlyPath(act)
				}
			}
			out.Left = append(out.Left, d)
			continue
		}
		s.done = append(s.done, d)
		for _, c := range doc.Changes(before, s.now) {
			out.For[c.String()] = d
		}
	}
	if !each {
		s.shorten()
	}
	out.Document, out.Changes = s.now, doc.Changes(s.base, s.now)
	return out, nil
}

// search edits a document until it allows all acts.
type search struct {
	again     func(*spec.SandboxSpec) (*Ask, error)
	name      spec.Source
	base, now *spec.Node
	plan      *Prepared // for the current document
	done      []Denied
	budget    string // the line for everything that max_commands denied
	tried     int
}

// act returns the act as the View judges it; ok is false if the View cannot.
func (d *Denied) act() (a wrap.Act, ok bool) {
	switch {
	case !strings.HasPrefix(d.Target, "/") || d.Action == listen.OpenInRoot:
		return a, false
	case d.Kind == "network":
		return wrap.Act{Kind: wrap.ToConnect, Path: d.Target}, true
	}
	return wrap.Act{Kind: listen.KindOf(d.Action), Path: d.Target}, d.Kind == "filesystem"
}

// allow edits the document so that it allows a denied act.
func (s *search) allow(d *Denied) bool {
	act, known := d.act()
	base, line := s.base, d.line()
	if strings.HasPrefix(d.Rule, budgetRule) {
		line = s.budget
	}
	if known {
		if s.plan.allows(act) {
			return true
		}
		if s.tried >= maxSuggested {
			return false
		}
		if s.byPreset(d, act) {
			return true
		}
		advice := s.plan.newAdviser().Advise(act)
		base, line, d.Opens = s.now, advice.Line, advice.Opens
	}
	if line == "" || s.tried >= maxSuggested {
		return false
	}
	s.tried++
	next, err := doc.Amend(base, s.now, line)
	return err == nil && s.holds(next, append(slices.Clip(s.done), *d))
}

// byPreset edits the document so that it opens, by the name of its preset, the cache in
// which the act would have written.
func (s *search) byPreset(d *Denied, act wrap.Act) bool {
	line := wrap.WritingSet(s.plan.Resolved, act.Path)
	if line == "" || act.Kind < wrap.ToWrite || act.Kind > wrap.ToTake {
		return false
	}
	s.tried++
	next, err := doc.Amend(s.now, s.now, line)
	return err == nil && s.holds(next, append(slices.Clip(s.done), *d))
}

// maxSuggested bounds the number of acts: a record lists no more denials.
const maxSuggested = 200

// lineFields has, for the kinds of acts that no View judges, the fields that a line for
// them may begin with. It limits what a forged record can suggest.
var lineFields = map[string][]string{
	"command": {"commands.", "max_commands:"},
	"network": {"network.", "network:"},
	"limit":   {"limits.", "max_commands:", "max_turns:"},
	"tool":    {"tools_allowed:", "tools_denied:"},
}

// line returns the line that the record has for the act.
func (d *Denied) line() string {
	for _, field := range lineFields[d.Kind] {
		if strings.HasPrefix(d.Line, field) {
			return d.Line
		}
	}
	return ""
}

// budgetRule is how the rule begins that denied a program because of max_commands.
const budgetRule = "max_commands: "

// budget returns the line for everything that max_commands denied: a name that is searched
// for in several directories of PATH is attempted, and denied, in each.
func budget(denied []Denied) string {
	type tried struct{ program, name string }
	most, limit := map[tried]int{}, 0
	for i := range denied {
		d := &denied[i]
		if n, ok := strings.CutPrefix(d.Rule, budgetRule); ok {
			limit, _ = strconv.Atoi(n)
			at := tried{d.Program, path.Base(d.Target)}
			most[at] = max(most[at], d.Count)
		}
	}
	for _, n := range most {
		limit += n
	}
	return budgetRule + strconv.Itoa(limit)
}

// holds reports whether the document next allows the acts in all, and makes it the current
// one if so.
func (s *search) holds(next *spec.Node, all []Denied) bool {
	document, err := spec.DecodeNode(s.name.Name, next)
	if err != nil {
		return false
	}
	root := document.Source.Root
	document.Source = s.name
	document.Source.Root = root
	a, err := s.again(document)
	if err != nil {
		return false
	}
	p, err := Try(a)
	if err != nil {
		return false
	}
	for i := range all {
		if act, known := all[i].act(); known && !p.allows(act) {
			return false
		}
	}
	s.now, s.plan = next, p
	return true
}

// allows reports whether an act is allowed. A cache that does not exist is created before
// the command runs; something that exists out of view is not.
func (p *planned) allows(act wrap.Act) bool {
	made := func(cache spec.Path) bool {
		return act.Path != cache.Real && view.Within(act.Path, cache.Real) || act.Path == cache.Real && act.Kind == wrap.ToMake
	}
	if p.Plan.Allows(act) || slices.ContainsFunc(p.Resolved.Absent, made) {
		return true
	}
	there := p.Plan.View.At(act.Path).Source
	return act.Kind == wrap.ToMake && there != "" && sys.Exists(there) && p.Plan.Allows(wrap.Act{Kind: wrap.ToWrite, Path: act.Path})
}

// maxShortened bounds the lines that are removed to see whether they are needed.
const maxShortened = 32

// shorten removes the paths that others have made needless.
func (s *search) shorten() {
	for n, c := range doc.Changes(s.base, s.now) {
		name, ok := strings.CutPrefix(c.Field, "filesystem.")
		list := s.now.Get("filesystem").Get(name)
		if !ok || c.Gone || n == maxShortened || list == nil || len(list.Items) == 0 {
			continue
		}
		rest := *list
		rest.Items = slices.DeleteFunc(slices.Clone(list.Items), func(item *spec.Node) bool { return string(item.AppendSpaced(nil)) == c.Value })
		if next, err := doc.Amend(s.now, s.now, c.Field+": "+string(rest.AppendSpaced(nil))); err == nil {
			s.holds(next, s.done)
		}
	}
}
