package guard

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
)

// bare is what a directory must hold for git to take it for a repository
// (is_git_directory), and whether it holds anything that git would not put there.
type bare struct{ head, objects, refs, commondir, others bool }

func (b *bare) see(e dirs.Entry) {
	switch string(e.Name) {
	case "HEAD":
		b.head = true
	case "objects":
		b.objects = true
	case "refs":
		b.refs = true
	case "commondir":
		b.commondir = true
	default:
		b.others = b.others || !gitsOwn(string(e.Name))
	}
}

// gitsOwn tells whether git, or git-lfs, puts a name into a repository's directory
// (gitrepository-layout(5)).
func gitsOwn(name string) bool {
	switch name {
	case ".", "..", "config", "config.worktree", "description", "hooks", "info", "branches", "packed-refs", "logs", "index",
		"modules", "worktrees", "shallow", "gitdir", "lfs", "gc.pid", "gc.log", "rebase-merge", "rebase-apply", "rebased-patches",
		"sequencer", "AUTO_MERGE", "MERGE_MODE", "MERGE_RR", "rr-cache", "reftable":
		return true
	}
	return strings.HasSuffix(name, "_HEAD") || strings.HasSuffix(name, "_MSG") || strings.HasSuffix(name, "_EDITMSG") ||
		strings.HasPrefix(name, "BISECT_") || strings.HasPrefix(name, "sharedindex.") || strings.HasSuffix(name, ".lock")
}

func (b *bare) all() bool { return b.head && (b.commondir || b.objects && b.refs) }

// bare deals with a bare repository that is new. It is no protected name, since
// any directory may become one, and one that is nothing else is listed. A directory
// with other things in it is one that people work in: there git would read the
// configuration beside them, so what makes it a repository is moved away.
func (w *walk) bare(t *tree, fd int, rel string, others bool) {
	s, path := w.s, under(t.path, rel)
	if _, in := s.inGit(path); in || s.known[path] || s.git[path] || strings.Contains(strings.ToLower("/"+rel+"/"), "/.git/") {
		return
	}
	if !others || s.allowed(under(t.path, dirs.Join(rel, ".git")), dirs.Join(rel, ".git")) {
		var st unix.Statx_t
		if rel != "" && unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st) == nil && s.Held.ageOf(t, &st) == ageNew {
			w.out.AddRepository(path)
		}
		return
	}
	// HEAD first: without it the rest is nothing.
	for _, name := range [...]string{"HEAD", "commondir", "objects", "refs"} {
		var st unix.Statx_t
		at := dirs.Join(rel, name)
		if statx(fd, name, &st) != nil || s.forbidden(under(t.path, at), at) || s.fixed[under(t.path, at)] {
			continue // a forbidden one is dealt with by itself
		}
		switch a := s.Held.ageOf(t, &st); {
		case a == ageOld || s.allowed(under(t.path, at), at):
			continue
		case a == ageUnsure || s.Cut:
			w.out.AddRepository(path)
			w.out.AddCut(path + ": git takes it for a repository, and it may have been one at launch; it was left")
			return
		}
		m, err := s.move(t, fd, at, name, kindOf(uint32(st.Mode)), false)
		if err != nil {
			w.out.AddCut(under(t.path, at) + ": it could not be moved away: " + err.Error())
			w.out.AddRepository(path)
			return
		}
		m.addTo(w.out)
		if name == "HEAD" {
			return
		}
	}
}
