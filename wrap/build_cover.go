package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
)

// FewHomes is the greatest number of homes in one directory that are hidden by a mount each.
const FewHomes = 4

// FewEntries is the greatest number of entries for which a directory is rebuilt from binds of the
// entries that stay, instead of covered by an overlay.
const FewEntries = 8

// hideByName covers each directory that holds a hidden file.
func (b *covering) hideByName() {
	covers := b.covers()
	for i := range covers {
		c := &covers[i]
		c.n = i
		list := b.h.listing(c.dir)
		if b.rebuilds(c) || !c.layer && list != nil && !c.deep() && (c.homes || len(list.Entries) <= FewEntries || b.h.Overlay.State == No || !b.restricted()) {
			b.rebuild(c, list)
		} else {
			b.overlay(c)
		}
	}
}

// covers returns the directories to cover, each before those that lie in it.
func (b *covering) covers() []cover {
	var covers []cover
	at := func(dir string, f spec.Field) *cover {
		for i := range covers {
			if covers[i].dir == dir {
				return &covers[i]
			}
		}
		covers = append(covers, cover{dir: dir, f: f})
		return &covers[len(covers)-1]
	}
	name := func(path string, f spec.Field) {
		dir := parent(path)
		if dir == "/" || !b.hideable(dir) || b.h.Overlay.State == No && b.h.listing(dir) == nil {
			return // nothing can be laid over the directory; maskSecrets masks the file itself
		}
		c, n := at(dir, f), path[len(dir):]
		switch i := b.onTop(path); {
		case i >= 0: // a mount of the spec has this name as its target: dir is hideable, so no bind shows dir itself
			if e := (Entry{Name: n, Kind: bindKind(&b.binds[i])}); !slices.Contains(c.make, e) {
				c.make = append(c.make, e)
			}
		case !slices.Contains(c.hide, n):
			c.hide = append(c.hide, n)
		}
	}
	for _, s := range b.h.Secrets {
		if s.Kind != Dir {
			name(s.Path, FieldSecrets)
		}
	}
	for _, dir := range b.emptied() {
		for _, s := range b.h.Secrets {
			if s.Home && parent(s.Path) == dir && !slices.Contains(b.opened, s.Real) {
				name(s.Path, FieldSecrets)
			}
		}
		at(dir, FieldSecrets).homes = true
	}
	for _, p := range b.r.Hide {
		if p.Exists && !p.IsDir {
			name(p.Real, "filesystem.hide")
			name(p.Abs, "filesystem.hide")
		}
	}
	for i := range b.binds {
		m := &b.binds[i]
		dir, rest := b.lacking(m.Target)
		if rest != "" && dir != "/" && b.makeable(dir) {
			c := at(dir, m.Field)
			c.make = append(c.make, Entry{Name: rest, Kind: bindKind(m)})
		}
	}
	if b.home == homeOverlay || b.home == homeRebuilt {
		at(b.h.HomeReal, FieldSecrets).layer = true
	}
	for _, dir := range b.learned() {
		c := at(dir, FieldSecrets)
		c.layer, c.learned = true, true
	}
	slices.SortStableFunc(covers, func(x, y cover) int { return len(x.dir) - len(y.dir) })
	if b.h.Overlay.State == No || !b.restricted() {
		return covers
	}
	return b.merge(covers)
}

// emptied returns the directories that hold almost nothing but hidden homes. Rebuilding such a
// directory takes a mount for each name that stays, instead of one for each hidden home.
func (b *covering) emptied() (dirs []string) {
	homes := 0
	for i := range b.h.Secrets {
		if b.h.Secrets[i].Home {
			homes++
		}
	}
	if homes <= FewHomes {
		return nil
	}
	for i := range b.h.Listing {
		l := &b.h.Listing[i]
		hidden := 0
		for j := range b.h.Secrets {
			if s := &b.h.Secrets[j]; s.Home && parent(s.Path) == l.Dir {
				hidden++
			}
		}
		if hidden > FewHomes && len(l.Entries)-hidden <= FewEntries && !l.Cut && l.Dir != "/" && b.hideable(l.Dir) {
			dirs = append(dirs, l.Dir)
		}
	}
	return dirs
}

// merge lets one overlay also hide names deeper in its tree. A whiteout further down in its layer
// costs a twentieth of another overlay, and a tenth of a mask.
func (b *covering) merge(covers []cover) []cover {
	var top []cover
next:
	for _, c := range covers {
		for i := len(top) - 1; i >= 0 && !c.layer; i-- {
			t := &top[i]
			if under(c.dir, t.dir) && b.oneMount(t.dir, c.dir) {
				if t.homes || b.rebuilds(t) {
					break // a directory that is rebuilt from binds hides only names directly in it
				}
				for _, n := range c.hide {
					t.hide = append(t.hide, c.dir[len(t.dir):]+n)
				}
				for _, e := range c.make {
					e.Name = c.dir[len(t.dir):] + e.Name
					t.make = append(t.make, e)
				}
				continue next
			}
		}
		top = append(top, c)
	}
	for i := range top {
		t := &top[i]
		if t.homes || b.rebuilds(t) {
			continue
		}
		if list := b.h.listing(t.dir); !t.layer && !t.deep() && list != nil && len(list.Entries) <= FewEntries {
			continue // hideByName rebuilds it from binds
		}
		for _, s := range b.h.Secrets {
			if s.Kind == Dir && s.Path == s.Real && s.Real != t.dir && under(s.Real, t.dir) && b.oneMount(t.dir, s.Real) &&
				!b.covered(s.Real) && !b.inWritable(s.Real) && !b.opens(s.Real) && b.onTop(s.Real) < 0 && !t.hides(s.Real) {
				t.hide = append(t.hide, s.Real[len(t.dir):])
			}
		}
	}
	return top
}

// oneMount reports whether no mount lies between dir and a path under it. Submounts are bound over
// an overlay again, and would show a path that the overlay hides.
func (b *covering) oneMount(dir, path string) bool {
	return !slices.ContainsFunc(b.h.Mounts, func(m MountPoint) bool { return m.Path != dir && under(m.Path, dir) && under(path, m.Path) })
}

// deep reports whether the cover hides a name below the directory's own entries.
func (c *cover) deep() bool {
	return slices.ContainsFunc(c.hide, func(n string) bool { return strings.LastIndexByte(n, '/') > 0 })
}

// hides reports whether the cover already hides path, or a directory above path.
func (c *cover) hides(path string) bool {
	return slices.ContainsFunc(c.hide, func(n string) bool { return under(path, c.dir+n) })
}

// makes reports whether the cover makes a mount point called name, whatever the host has there.
func (c *cover) makes(name string) bool {
	return slices.ContainsFunc(c.make, func(e Entry) bool { return e.Name == name })
}
