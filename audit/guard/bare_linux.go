package guard

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/view"
)

// bare notes which names of a directory make git take the directory for a repository
// (is_git_directory), and whether the directory has names that git does not create.
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

// gitsOwn reports whether git or git-lfs creates a name in the directory of a repository
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

// bare handles a new bare repository. Its name is not protected, since any directory may become
// one. If the directory contains nothing else, it is listed in the record. If it contains other
// files, people work in it, and git would read the configuration there: bare moves away the
// names that make it a repository.
func (w *walk) bare(t *tree, fd int, rel string, others bool) {
	s, path := w.s, view.Join(t.path, rel)
	if _, in := s.inGit(path); in || s.known[path] || s.git[path] || strings.Contains(strings.ToLower("/"+rel+"/"), "/.git/") {
		return
	}
	if !others || s.allowed(view.Join(t.path, dirs.Join(rel, ".git")), dirs.Join(rel, ".git")) {
		var st unix.Statx_t
		if rel != "" && unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st) == nil && s.Held.ageOf(t, &st) == ageNew {
			w.out.AddRepository(path)
		}
		return
	}
	// HEAD goes first: without it git ignores the others.
	for _, name := range [...]string{"HEAD", "commondir", "objects", "refs"} {
		var st unix.Statx_t
		at := dirs.Join(rel, name)
		if statx(fd, name, &st) != nil || s.forbidden(view.Join(t.path, at), at) || s.fixed[view.Join(t.path, at)] {
			continue // consider handles a forbidden name
		}
		switch a := s.Held.ageOf(t, &st); {
		case a == ageOld || s.allowed(view.Join(t.path, at), at):
			continue
		case a == ageUnsure || s.Cut:
			w.out.AddRepository(path)
			w.out.AddCut(path + ": git takes it for a repository, and it may have been one at launch; it was left")
			return
		}
		m, err := s.move(t, fd, at, name, kindOf(uint32(st.Mode)), false)
		if err != nil {
			w.out.AddCut(view.Join(t.path, at) + ": it could not be moved away: " + err.Error())
			w.out.AddRepository(path)
			return
		}
		m.addTo(w.out)
		if name == "HEAD" {
			return
		}
	}
}
