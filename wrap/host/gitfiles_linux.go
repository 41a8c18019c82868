package host

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/read"
	"sbx/wrap"
)

// Limits on the files to which configurations may lead the search. Git itself follows includes
// ten deep.
const (
	maxIncludes    = 10
	maxConfigs     = 256 // configuration files in total
	maxNamed       = 2048
	maxHookLinks   = 256
	maxGitFile     = 8192 // git's own bound on .git files is PATH_MAX and some
	maxWorktrees   = 1024
	maxConfigBytes = 1 << 20
)

// readConfig reads a configuration and its includes, protects the included files, and
// appends to list the paths that variables name. It assumes that the condition of every
// include holds: the workspace itself chooses which branch is checked out. Relative
// includes count from dir, the directory in which the file is called; its path contains no
// symlink.
func (s *gitSearch) readConfig(dir, file string, depth int, list []named) []named {
	if s.configs++; s.configs > maxConfigs || depth > maxIncludes {
		s.noteCut("more configuration files than " + itoa(maxConfigs) + ", or deeper includes than " + itoa(maxIncludes))
		return list
	}
	if isKernelPath(file) {
		return list
	}
	b, ok := read.Regular(file, maxConfigBytes)
	if !ok {
		if len(b) > 0 || kindAt(file) == wrap.File {
			s.noteCut(file + " could not be read, or is larger than 1 MiB")
		}
		return list
	}
	parseGitConfig(string(b), func(v gitVar) {
		use, text, why := keyUse(&v)
		if use == unused || text == "" {
			return
		}
		if s.named++; s.named > maxNamed {
			s.noteCut("more than " + itoa(maxNamed) + " programs and paths in configurations of git")
			return
		}
		text = homePath(text, s.home)
		if use != include {
			list = append(list, named{text: text, use: use, why: why, hooks: v.Key == "hookspath"})
			return
		}
		at := s.protectPath(dir, text, why)
		if at.kind == wrap.File {
			list = s.readConfig(dirOf(dir, text), at.path, depth+1, list)
		}
	})
	return list
}

// dirOf resolves the directory part of path, counted from dir.
func dirOf(dir, path string) string {
	return resolveIn(dir, path[:len(path)-len(base(path))]).path
}

// protectNamed protects the paths that variables name, counted from dir.
func (s *gitSearch) protectNamed(list []named, dir string) {
	for i := range list {
		n := &list[i]
		switch {
		case n.use == command || n.use == operands:
			s.protectCommand(n, dir)
		case n.hooks:
			s.protectHooksPath(n, dir)
		default:
			s.protectPath(dir, n.text, n.why)
		}
	}
}

// protectCommand protects the files of a writable tree among a command's words. git looks
// for a first word without a slash in PATH, so that word is skipped.
func (s *gitSearch) protectCommand(n *named, dir string) {
	first := n.use == command
	commandWords(n.text, func(word string) {
		if inPath := first && strings.IndexByte(word, '/') < 0; inPath || s.words >= maxNamed {
			first = false
			return
		}
		first = false
		s.words++
		at := resolveIn(dir, homePath(word, s.home))
		if at.kind == wrap.Absent && strings.IndexByte(word, '/') >= 0 && !strings.HasPrefix(word, "-") {
			s.add(at.path, at.kind, n.why) // it does not exist and must not be created
			return
		}
		if at.kind != wrap.File {
			return
		}
		for _, link := range at.links {
			s.add(link, wrap.Symlink, n.why)
		}
		s.add(at.path, at.kind, n.why)
	})
	if s.words >= maxNamed {
		s.noteCut("more than " + itoa(maxNamed) + " words in commands of git's configuration")
	}
}

// protectHooksPath protects the directory of core.hooksPath, which need not exist. If it is
// the top of a writable tree, the tree cannot become read-only: then each hook's name in it
// is protected.
func (s *gitSearch) protectHooksPath(n *named, dir string) {
	at := s.protectPath(dir, n.text, n.why)
	if at.kind != wrap.Dir {
		return
	}
	for _, tree := range s.trees {
		if tree == at.path {
			for _, hook := range hookNames {
				s.protectPath(tree, hook, n.why)
			}
		}
	}
	s.protectHooks(at.path, dir)
}

// hookNames are the hooks of githooks(5).
var hookNames = [...]string{
	"applypatch-msg", "commit-msg", "fsmonitor-watchman", "p4-changelist", "p4-post-changelist",
	"p4-pre-submit", "p4-prepare-changelist", "post-applypatch", "post-checkout", "post-commit",
	"post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch",
	"pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive",
	"prepare-commit-msg", "proc-receive", "push-to-checkout", "reference-transaction",
	"sendemail-validate", "update",
}

// protectHooks protects the targets of symlinks in a directory of hooks, and the files that
// hook scripts run from the directory top.
func (s *gitSearch) protectHooks(dir, top string) {
	fd, err := dirs.OpenReal(dir, listing)
	if err != nil {
		return
	}
	var links, scripts []string
	_ = s.p.dirs.Each(fd, func(name []byte, dtype byte) bool {
		if kindIn(fd, string(name), dtype) == wrap.Symlink {
			links = append(links, string(name))
		}
		if slices.Contains(hookNames[:], string(name)) {
			scripts = append(scripts, join(dir, string(name)))
		}
		return len(links) < maxHookLinks
	})
	unix.Close(fd)
	if len(links) == maxHookLinks {
		s.noteCut("more than " + itoa(maxHookLinks) + " links in " + dir)
	}
	for _, link := range links {
		s.protectPath(dir, link, "a hook is a link to it")
	}
	for _, script := range scripts {
		if s.isOpened(script) {
			continue // the command may write this script anyway
		}
		s.protectNamedIn(&hookNaming, script, top, maxChain)
	}
}

// oneLine returns the first line of a small file that holds a path, such as .git, commondir
// or gitdir, without trailing newlines.
func oneLine(path string) string {
	b, ok := read.Regular(path, maxGitFile)
	if !ok {
		return ""
	}
	return strings.TrimRight(cString(b), "\r\n")
}

// gitFile returns the directory that a .git file names, as written there.
func gitFile(path string) string {
	text, _ := strings.CutPrefix(oneLine(path), "gitdir: ")
	return text
}
