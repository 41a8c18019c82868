package host

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// Limits on the files to which settings files may lead the search.
const (
	maxSettings      = 256 // files that are read
	maxSettingsBytes = 256 << 10
	maxProgramWords  = 8192
	maxPrograms      = 256
	maxNamedDirs     = 8 // directories that one file names, in which its other words are looked up
	maxChain         = 3 // a settings file, a script that it names, a program that the script runs
)

// hookNaming describes scripts that git runs because of their name.
var hookNaming = defaults.Naming{Format: defaults.Script, Why: "git runs it as a hook"}

// protectPrograms protects the programs that f names, if f is a settings file of the table, or that
// the settings files in f name, if f is a directory. The table's paths are relative to the
// directory top.
func (s *gitSearch) protectPrograms(top string, f *wrap.Found) {
	if s.isOpened(f.Path) {
		return // the command may write this file anyway
	}
	rel := relative(f.Path, top)
	depth := strings.Count(rel, "/") + 1
	table := defaults.Namings()
	for i := range table {
		n := &table[i]
		parts := strings.SplitN(n.Path, "/", depth+1)
		switch {
		case len(parts) < depth || !defaults.Under(rel, strings.Join(parts[:depth], "/")):
		case len(parts) == depth && f.Kind == wrap.File:
			s.protectNamedIn(n, f.Path, top, maxChain)
		case len(parts) > depth && f.Kind == wrap.Dir:
			for _, in := range s.p.rows([]defaults.Row{{Path: parts[depth]}}, f.Real, 0) {
				s.protectNamedIn(n, in.Path, top, maxChain)
			}
		}
	}
}

// protectNamedIn protects the programs that a settings file names, and the programs that
// those of them run that are shell scripts. A word of the file is an absolute path, or a
// path from top, from the file's own directory or from a directory that the file names.
func (s *gitSearch) protectNamedIn(n *defaults.Naming, file, top string, chain int) {
	known := file + "\x00" + n.Path + n.When
	if slices.Contains(s.programs.read, known) || isKernelPath(file) || n.Format == defaults.Script && isBinary(file) {
		return
	}
	if len(s.programs.read) == maxSettings {
		s.notePartial("more than " + itoa(maxSettings) + " files name some")
		return
	}
	s.programs.read = append(s.programs.read, known)
	b, ok := read.Regular(file, maxSettingsBytes)
	if !ok {
		if kindAt(file) == wrap.File {
			s.notePartial(file + " could not be read, or is larger than 256 KiB")
		}
		return
	}
	w := settingsFile{s: s, row: n, file: file, top: top, chain: chain, dirs: []string{top}}
	if dir := parent(file); dir != top {
		w.dirs = append(w.dirs, dir)
	}
	fixed := len(w.dirs)
	text := string(b)
	programWords(n, text, func(word string, runs bool) { w.takeWord(word, runs, w.dirs[:fixed]) })
	if len(w.dirs) > fixed {
		programWords(n, text, func(word string, runs bool) { w.takeWord(word, runs, w.dirs[fixed:]) })
	}
}

// notePartial records why not all programs were looked for; the first reason is kept.
func (s *gitSearch) notePartial(why string) {
	if s.programs.partial == "" {
		s.programs.partial = why
	}
}

// settingsFile is a settings file while its words are looked up.
type settingsFile struct {
	s         *gitSearch
	row       *defaults.Naming
	file, top string
	chain     int
	dirs      []string // directories in which words are looked up
}

func (w *settingsFile) takeWord(word string, runs bool, from []string) {
	s := w.s
	if len(word) > 4096 || strings.IndexByte(word, 0) >= 0 {
		return
	}
	word = homePath(word, s.home)
	if strings.HasPrefix(word, "/") && s.tree(word) != "" {
		w.takePath(resolve(word), runs)
		return
	}
	if word = strings.TrimLeft(word, "/"); word == "" { // the rest of a word that began with a variable begins with a slash
		return
	}
	for _, dir := range from {
		if s.programs.words++; s.programs.words > maxProgramWords {
			s.notePartial("there are more than " + itoa(maxProgramWords) + " words in the files that name some")
			return
		}
		w.takePath(resolveIn(dir, word), runs)
	}
}

// takePath handles the path that a word resolves to. In a directory, later words are looked
// up too. A file is protected if it may be a program, together with the symlinks on the way.
func (w *settingsFile) takePath(at resolved, runs bool) {
	switch at.kind {
	case wrap.Dir:
		if len(w.dirs) < maxNamedDirs && w.s.tree(at.path) != "" && !slices.Contains(w.dirs, at.path) && !within(w.top, at.path) {
			w.dirs = append(w.dirs, at.path)
		}
	case wrap.File:
		if at.path == w.file || isKernelPath(at.path) || !runs && !looksRunnable(at.path) {
			return
		}
		for _, link := range at.links {
			w.protect(link, wrap.Symlink)
		}
		if w.protect(at.path, wrap.File) && w.chain > 1 && isShellScript(at.path) {
			next := defaults.Naming{Path: at.path, Format: defaults.Script, Why: w.row.Why}
			w.s.protectNamedIn(&next, at.path, w.top, w.chain-1)
		}
	}
}

// protect protects a program, or a symlink to one, if it lies in a writable tree. It
// returns false otherwise, or if the limit is reached.
func (w *settingsFile) protect(path string, kind wrap.Kind) bool {
	s := w.s
	tree := s.tree(path)
	if tree == "" || !defaults.MayBeProgram(relative(path, tree)) {
		return false
	}
	if slices.ContainsFunc(s.items, func(p wrap.Protected) bool { return p.Path == path }) {
		return true
	}
	if s.programs.found++; s.programs.found > maxPrograms {
		s.notePartial("they name more than " + itoa(maxPrograms))
		return false
	}
	before := len(s.items)
	s.add(path, kind, w.row.Why)
	for i := before; i < len(s.items); i++ {
		if s.items[i].By = relative(w.file, w.top); s.items[i].By == "" {
			s.items[i].By = w.file
		}
	}
	return true
}

// looksRunnable reports whether a file is executable or begins with "#!".
func looksRunnable(path string) bool {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return false
	}
	return st.Mode&0o111 != 0 || strings.HasPrefix(firstLine(path), "#!")
}

// isShellScript reports whether a shell runs a file.
func isShellScript(path string) bool {
	if first := firstLine(path); strings.HasPrefix(first, "#!") {
		return isShellLine(first)
	}
	for _, ending := range [...]string{".sh", ".bash", ".zsh"} {
		if strings.HasSuffix(path, ending) {
			return true
		}
	}
	return false
}

// isBinary reports whether a file holds machine code rather than text.
func isBinary(path string) bool { return strings.IndexByte(beginning(path), 0) >= 0 }

// firstLine returns the beginning of a file's first line.
func firstLine(path string) string {
	line, _, _ := strings.Cut(beginning(path), "\n")
	return line
}

// beginning returns the first bytes of a regular file.
func beginning(path string) string {
	head := readHead(path)
	return head[:min(len(head), 128)]
}
