package wrap

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/wrap/defaults"
)

// grantWord is a word that describes the access to a path to an sbx inside. A private path has no
// Source, because writes to it do not reach the host.
type grantWord struct {
	word string
	view.Grant
}

var grantWords = [...]grantWord{
	{"absent", view.Grant{Access: view.Absent}},
	{"hidden", view.Grant{Access: view.Hidden}},
	{"read-only", view.Grant{Access: view.Read, Source: "/"}},
	{"protected", view.Grant{Access: view.Read, Source: "/", Protected: true}},
	{"private", view.Grant{Access: view.Write}},
	{"writable", view.Grant{Access: view.Write, Source: "/"}},
}

// says reports whether w is the word for a grant.
func (w *grantWord) says(g view.Grant) bool {
	return w.Access == g.Access && w.Protected == g.Protected && (g.Access != view.Write || reaches(g) == (w.Source != ""))
}

// reportView adds a line for each path: the word for its access, and the path.
func (b *reporter) reportView(p *Parent) {
	for _, path := range b.view.Places() {
		g := b.view.At(path)
		for i := range grantWords {
			if w := &grantWords[i]; w.says(g) {
				p.View = append(p.View, w.word+" "+path)
				break
			}
		}
	}
}

// outerSandbox is the cause of a decision that no document here makes.
const outerSandbox = "the outer sandbox"

// outerView returns the access that the outer sandbox grants.
func (b *nesting) outerView(held *Parent) view.Tree {
	t := view.New(len(held.View))
	for _, told := range held.View {
		word, path, _ := strings.Cut(told, " ")
		i := slices.IndexFunc(grantWords[:], func(w grantWord) bool { return w.word == word })
		if i < 0 || !strings.HasPrefix(path, "/") {
			continue // a word of a later version
		}
		g := grantWords[i].Grant
		g.Because.Field = outerSandbox
		if g.Source != "" {
			g.Source = path
		}
		t = t.With(view.Layer{Path: path, Grant: g})
	}
	for _, top := range held.Writable {
		t = t.WithNames(view.Names{Top: top, Because: func(rel string) (view.Cause, bool) {
			row, ok := defaults.IsProtectedName(rel)
			path := top + "/" + rel
			ok = ok && !opensName(held.Allowed, path) && !slices.ContainsFunc(b.h.Protected, func(p Protected) bool { return p.Shared && p.Path == path })
			return view.Cause{Field: outerSandbox, Why: row.Why}, ok
		}})
	}
	return t
}
