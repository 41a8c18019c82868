package guard

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
)

// modules walks the working trees of submodules that the indexes list: git enters them on its
// own, and a walk that ended early may not have reached them.
func (s *Sweep) modules(out *audit.Swept) {
	w := newWalk()
	w.s, w.out, w.buf, w.room = s, out, make([]byte, 32<<10), 0
	left := maxModules
	for _, g := range s.Watch.Git {
		if top, ok := strings.CutSuffix(g, "/.git"); ok {
			w.modulesOf(g, top, &left)
		}
	}
	if left <= 0 {
		out.AddCut("more submodules than are looked at")
	}
}

// modulesOf walks the submodules of one git directory and its working tree.
func (w *walk) modulesOf(git, top string, left *int) {
	for _, name := range w.s.gitlinks(git + "/index") {
		if *left--; *left <= 0 {
			return
		}
		path := top + "/" + name
		if t, rel := w.s.Held.find(path); t != nil {
			_ = w.dir(t, rel)
			w.why = "" // the directories in it are not entered
		}
		if m := git + "/modules/" + name; w.s.git[m] {
			w.modulesOf(m, path, left)
		}
	}
}

// gitlinks returns the paths of the submodules that an index file lists.
func (s *Sweep) gitlinks(path string) []string {
	t, rel := s.Held.find(path)
	if t == nil {
		return nil
	}
	fd, err := dirs.OpenBeneath(t.fd, rel, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil
	}
	defer dirs.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > maxIndex {
		return nil
	}
	b := make([]byte, st.Size)
	n, err := dirs.ReadFull(fd, b)
	if err != nil {
		return nil
	}
	return indexModules(b[:n])
}
