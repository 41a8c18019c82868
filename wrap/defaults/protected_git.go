package defaults

import "strings"

// ProtectedInGit lists names in a git directory (.git, a submodule's, a linked worktree's, a bare
// repository) that make git on the host run programs, or read another configuration that does.
//
// config.lock, index and refs stay writable, because git needs them. To replace config itself, git
// renames config.lock onto a mount point, which the kernel refuses.
func ProtectedInGit() []Row { return protectedInGit[:] }

var protectedInGit = [...]Row{
	{"commondir", "git takes configuration and hooks from the directory that it names"},
	{"config", "names programs that git runs: core.fsmonitor at every status, core.pager, filters, credential helpers"},
	{"config.worktree", "the same, for one worktree (extensions.worktreeConfig)"},
	{"gitdir", "where a linked worktree is; git worktree acts on that directory"},
	{"hooks", "programs that git runs at commit, checkout, merge, push"},
	{"lazygit.yml", "names programs that lazygit runs: the pager, the editor, commands in its menus"},
}

// protectedGitName reports whether the last part of rel is .git, or rel leads to a name of
// ProtectedInGit in a git directory, be it a submodule's or a worktree's.
func protectedGitName(rel string) (Row, bool) {
	for at := 0; at <= len(rel); {
		end := strings.IndexByte(rel[at:], '/')
		if end < 0 {
			if same(rel[at:], ".git") {
				return Row{".git", "a repository that a git command on the host would read its configuration from"}, true
			}
			return Row{}, false
		}
		part := rel[at : at+end]
		at += end + 1
		if same(part, ".git") {
			return rowInGitDir(rel[at:], false)
		}
	}
	return Row{}, false
}

// IsProtectedInGit is IsProtectedName for a path relative to a directory that is
// known to be a git directory, where no other that is known lies between: what is
// in modules belongs to a submodule that is new, and its refs and logs, which
// may be called config or hooks, are not told from a submodule of that name.
func IsProtectedInGit(rel string) bool {
	_, named := protectedGitName(rel)
	_, inside := rowInGitDir(rel, true)
	return named || inside
}

// LeadsInGit reports whether rel, relative to a known git directory, leads to a protected name in
// it: a directory that is renamed to such a path may bring one with it. If not all submodules are
// known, only the first part under modules counts, since the rest may belong to a submodule that
// existed already.
func LeadsInGit(rel string, all bool) bool {
	name, rest, more := strings.Cut(rel, "/")
	_, beneath, deeper := strings.Cut(rest, "/")
	switch {
	case same(name, "modules"):
		return !more || !deeper || all
	case same(name, "worktrees"):
		return !more || !deeper || LeadsInGit(beneath, all)
	}
	return false
}

// rowInGitDir returns the protected name to which a path relative to a git directory leads.
// Submodules' directories lie in modules, to any depth and with names of several parts; a linked
// worktree's is worktrees/NAME. If it is not known which directories are submodules', a part called
// refs, logs or objects may belong to a submodule's name, or to the submodule above; strict assumes
// the former.
func rowInGitDir(rel string, strict bool) (Row, bool) {
	name, rest, more := strings.Cut(rel, "/")
	if more && same(name, "worktrees") {
		_, rest, _ = strings.Cut(rest, "/")
		return rowInGitDir(rest, strict)
	}
	if row, ok := gitRow(name); ok {
		return row, true
	}
	if !more || !same(name, "modules") {
		return Row{}, false
	}
	for first := true; rest != ""; first = false {
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "refs", "logs", "objects": // branches may be called config or hooks
			if !strict && !first {
				return Row{}, false
			}
		}
		if row, ok := gitRow(name); ok {
			return row, true
		}
	}
	return Row{}, false
}

func gitRow(name string) (Row, bool) {
	for i := range protectedInGit {
		if same(name, protectedInGit[i].Path) {
			return protectedInGit[i], true
		}
	}
	return Row{}, false
}
