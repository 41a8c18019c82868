package spec

import (
	"slices"
	"strings"

	"sbx/internal/view"
)

// ground holds which files of the host a document makes visible and writable, as far as the
// document and the lists decide that. The causes in its Tree are worded for errors.
type ground struct {
	*Resolved
	lists *Lists
	tree  view.Tree
}

// Causes in a ground that are not an entry of a list.
const (
	byBase    = "/"                // the default for the whole host
	byPrivate = "private"          // a directory of the sandbox's own
	bySecret  = "secret"           // hidden by default
	byHide    = "filesystem.hide"  // hidden by a document
	byMounts  = "filesystem.mount" // begins the field of a mount
)

// groundOf returns the ground of r for the paths keys. inside says that r applies in another sandbox,
// whose private directories are in place already. With most, the ground shows everything that r
// asks for: r's own list hides nothing in it, and mounted secrets are not hidden.
func groundOf(r *Resolved, lists *Lists, inside, most bool, keys []string) *ground {
	g := &ground{r, lists, view.New(len(keys) + 8)}
	g.layBase()
	var own []string
	if r.Private && !inside {
		own = lists.Private
	}
	private := func(path string) bool {
		return slices.ContainsFunc(own, func(dir string) bool { return under(path, dir) })
	}
	g.layList(r.Read, view.Read, func(path string) bool { return !private(path) })
	g.layList(r.Write, view.Write, func(path string) bool { return path == "/" })
	g.layPrivate(own, keys)
	g.layList(r.Read, view.Read, private)
	g.layList(r.Write, view.Write, func(path string) bool { return path != "/" }) // over the private directories
	if r.Job != nil {
		g.lay("/work", view.Write, "/work", byBase, "")
	}
	g.laySecrets(keys, "/")
	mounts := slices.Clone(r.Mounts)
	slices.SortFunc(mounts, func(a, b MountAt) int { return len(a.Target) - len(b.Target) })
	for i := range mounts {
		m := &mounts[i]
		a := view.Read
		if m.Mode != MountRO {
			a = view.Write
		}
		g.lay(m.Target, a, m.Source.Real, m.Field, "something else mounted at "+odd(m.Target)+" ("+m.At+")")
		if m.Source.Real == m.Target && !most { // a secret is hidden at each place where it is visible
			g.laySecrets(keys, m.Target)
		}
	}
	for i := 0; !most && i < len(r.Hide); i++ {
		h := &r.Hide[i]
		for _, path := range []string{h.Real, h.Abs} {
			g.lay(path, view.Hidden, "", byHide, "it hidden by "+odd(h.Asked)+" ("+h.At+")")
		}
	}
	return g
}

func (g *ground) lay(path string, a view.Access, source string, f Field, why string) {
	g.tree = g.tree.With(view.Layer{Path: path, Grant: view.Grant{Access: a, Source: source, Because: view.Cause{Field: string(f), Why: why}}})
}

func (g *ground) layList(list []Path, a view.Access, is func(path string) bool) {
	for i := range list {
		if p := &list[i]; is(p.Real) {
			g.lay(p.Real, a, p.Real, p.Field, "")
		}
	}
}

// layBase adds the access to paths that no list names.
func (g *ground) layBase() {
	switch {
	case g.Visible:
		g.lay("/", view.Absent, "", byBase, "only what is named in view ("+orElse(g.origin("filesystem.read"), g.origin("sandbox.root"))+")")
	case g.Confined:
		g.lay("/", view.Read, "/", byBase, "")
	default:
		g.lay("/", view.Write, "/", byBase, "")
		if g.SideDoors { // the sandbox has its own /dev
			g.lay("/dev", view.Read, "/dev", byBase, "")
			g.lay("/dev/shm", view.Write, "/dev/shm", byBase, "")
		}
	}
}

// layPrivate adds the sandbox's own empty directories over the listed paths that contain them. The
// working directory and the paths of @system inside them stay visible.
func (g *ground) layPrivate(own, keys []string) {
	kept := map[string]view.Grant{}
	for _, key := range keys {
		if key == "" || g.lists.System == nil || !g.lists.System(key) {
			continue
		}
		if g.System && g.tree.At(key).Source == "" {
			g.lay(key, view.Read, key, byBase, "")
		}
		kept[key] = g.tree.At(key)
	}
	if start := g.WorkingDir.Real; start != "" {
		kept[start] = g.tree.At(start)
	}
	for _, dir := range own {
		g.lay(dir, view.Absent, "", byPrivate, odd(dir)+" private and empty ("+g.GuardedBy()+")")
	}
	for key, was := range kept {
		if g.tree.At(key).Because.Field == byPrivate {
			g.tree = g.tree.With(view.Layer{Path: key, Grant: was})
		}
	}
}

// laySecrets hides the secrets among the keys that lie in top, except opened ones.
func (g *ground) laySecrets(keys []string, top string) {
	var kept, opened []view.Layer
	hidden := view.Grant{Access: view.Hidden, Because: view.Cause{Field: bySecret, Why: "it hidden: it is a secret (" + g.GuardedBy() + ")"}}
	for _, key := range keys {
		switch {
		case !g.Private || key == "" || !under(key, top) || !g.isSecret(key):
		case g.opened(key):
			opened = append(opened, view.Layer{Path: key, Grant: g.tree.At(key)})
		default:
			kept = append(kept, view.Layer{Path: key, Grant: hidden})
		}
	}
	for _, l := range append(kept, opened...) {
		g.tree = g.tree.With(l)
	}
}

func (g *ground) isSecret(path string) bool {
	return g.lists.Secret != nil && g.lists.Secret(path, g.Home)
}

// opened reports whether an entry opens a secret: only one that names the secret itself, or a secret
// directory that contains it.
func (g *ground) opened(real string) bool {
	return slices.ContainsFunc(slices.Concat(g.Read, g.Write), func(n Path) bool {
		return n.Field != "" && under(real, n.Real) && (g.isSecret(n.Abs) || g.isSecret(n.Real) && !g.Planted(&n))
	})
}

// unseen returns why a host path is not visible; "" if it is.
func (g *ground) unseen(real string) string {
	if has := g.tree.Of(real); has.Source != real {
		return has.Because.Why
	}
	return ""
}

// names returns the host paths that r names.
func (r *Resolved) names() []string {
	all := []string{r.WorkingDir.Real}
	for _, p := range slices.Concat(r.Read, r.Write) {
		all = append(all, p.Real)
	}
	for i := range r.Mounts {
		all = append(all, r.Mounts[i].Source.Real)
	}
	return all
}

// origin returns the place where r sets f, or the access_mode that f follows from.
func (r *Resolved) origin(f Field) string {
	at := r.At(f)
	if at == "" && byMode(f) && r.AccessMode != AccessUnset {
		return "from access_mode " + r.AccessMode.String() + ", " + r.At("access_mode")
	}
	return at
}

// GuardedBy returns the place of the field that hides secrets, protects names and makes directories
// private.
func (r *Resolved) GuardedBy() string {
	if r.AccessMode.Guards() {
		return r.origin("access_mode")
	}
	return orElse(r.origin("filesystem.read"), r.origin("sandbox.root"))
}

// unprotects returns the protected name that an entry for real would make writable although g
// protects it; "" for none.
func (g *ground) unprotects(real string) string {
	if !g.Private || g.lists.Protected == nil {
		return ""
	}
	named := false
	best := ""
	// The tops that contain real count even if they lie in a larger writable directory.
	inner := slices.DeleteFunc(g.tops(), func(t string) bool { return !under(real, t) })
	for i := range g.Write {
		w := &g.Write[i]
		if !under(real, w.Real) || slices.ContainsFunc(inner, func(t string) bool { return t != w.Real && under(t, w.Real) }) {
			continue
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(real, w.Real), "/")
		switch {
		case rel == "" || !g.lists.Protected(rel):
			named = true // the parent names it, or no part of the path is protected
		default:
			best = rel
		}
	}
	for _, t := range inner {
		if rel := strings.TrimPrefix(strings.TrimPrefix(real, t), "/"); rel != "" && g.lists.Protected(rel) && !inList(g.Write, t) {
			best = rel
		}
	}
	opened := func(part string) bool { return slices.Contains(g.Globs, Anywhere+part) }
	if named || slices.ContainsFunc(strings.Split(best, "/"), opened) {
		return ""
	}
	return best
}

// tops returns the directories relative to which names are protected in documents that narrow r: the
// working directory and the sources of writable mounts.
func (r *Resolved) tops() []string {
	if !r.Private {
		return nil
	}
	all := slices.Clone(r.Tops)
	add := func(dir string) {
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	if r.WritesWorkDir() {
		add(r.WorkingDir.Real)
	}
	for i := range r.Mounts {
		if m := &r.Mounts[i]; m.Mode == MountRW && m.Source.IsDir {
			add(m.Source.Real)
		}
	}
	return all
}
