package guard

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
	"sbx/internal/view"
)

// mover moves names into the run's directory.
type mover struct {
	run    func() (fd int, path string, err error) // Sweep.Run
	dest   int                                     // the directory SweptDir, -1 before the first move
	path   string
	moved  int
	later  []later
	copied copier // how much was copied so far
}

// movedOut is a finished move, with a note of any part that failed.
type movedOut struct {
	audit.Moved
	left string
}

// move moves name from the open directory fd into the run's directory. If that is on another
// file system, move first renames the file, in the same directory, to a name that no program
// looks for, and then copies and removes it.
func (s *mover) move(t *tree, fd int, rel, name string, kind string, quick bool) (movedOut, error) {
	m := movedOut{Moved: audit.Moved{Path: view.Join(t.path, rel), Kind: kind}}
	dest, destErr := s.swept()
	to := strconv.Itoa(s.moved+1) + "-" + strings.ReplaceAll(name, "/", "_")
	err := destErr
	if err == nil {
		err = renameAway(fd, name, dest, to, m.Kind)
	}
	if err == nil {
		s.moved++
		m.MovedTo = s.path + "/" + to
		return m, nil
	}
	if err == unix.ENOENT && destErr == nil {
		return m, err
	}
	inert, err := s.aside(fd, name, &m)
	if err != nil {
		return m, err
	}
	if quick && len(s.later) < maxLater {
		s.later = append(s.later, later{t, dirOf(rel), inert, to, m})
		return movedOut{}, nil
	}
	return s.fetch(fd, inert, to, dest, m), nil
}

// take moves a name away and lists it, or lists why it could not. ENOENT means that the name
// is gone already.
func (s *mover) take(out *audit.Swept, t *tree, fd int, rel, name string, as audit.Moved, quick bool) error {
	m, err := s.move(t, fd, rel, name, as.Kind, quick)
	if err != nil {
		if err != unix.ENOENT {
			out.AddCut(view.Join(t.path, rel) + ": it could not be moved away: " + err.Error())
		}
		return err
	}
	m.Why = as.Why
	m.addTo(out)
	return nil
}

// later is a move that At begins and End finishes: the copy may take long, and the supervisor has
// to answer the sandbox in the meantime.
type later struct {
	t     *tree
	dir   string
	inert string
	to    string
	m     movedOut
}

// maxLater bounds the moves that wait; further ones are done at once.
const maxLater = 1000

// finish completes the moves that At began.
func (s *mover) finish(out *audit.Swept) {
	if len(s.later) == 0 {
		return
	}
	dest, _ := s.swept()
	for _, l := range s.later {
		fd, err := dirs.OpenBeneath(l.t.fd, l.dir, unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			out.AddCut(l.m.Path + ": it was renamed to " + l.inert + " and its directory is gone: " + err.Error())
			continue
		}
		m := s.fetch(fd, l.inert, l.to, dest, l.m)
		m.addTo(out)
		dirs.Close(fd)
	}
	s.later = nil
}

// aside renames a file, in its directory, to a name that no program looks for.
func (s *mover) aside(fd int, name string, m *movedOut) (inert string, err error) {
	random, err := audit.RandomHex()
	if err != nil {
		return "", err
	}
	inert = ".sbx-swept-" + random
	if err = renameAway(fd, name, fd, inert, m.Kind); err != nil {
		return "", err
	}
	s.moved++
	m.MovedTo = m.Path[:strings.LastIndexByte(m.Path, '/')+1] + inert
	return inert, nil
}

// fetch copies a file that aside renamed into the run's directory and removes the original.
func (s *mover) fetch(fd int, inert, to string, dest int, m movedOut) movedOut {
	if dest < 0 {
		m.left = m.MovedTo + ": it was renamed only, since the run's directory cannot be opened"
		return m
	}
	room := copier{bytes: min(maxCopyBytes, maxCopies*maxCopyBytes-s.copied.bytes), names: min(maxCopyNames, maxCopies*maxCopyNames-s.copied.names)}
	if room.bytes <= 0 || room.names <= 0 {
		m.left = m.MovedTo + ": it was renamed only, since too much has been copied already"
		return m
	}
	c := room
	err := c.copy(fd, inert, dest, to, 0)
	s.copied.bytes += room.bytes - max(c.bytes, 0)
	s.copied.names += room.names - max(c.names, 0)
	if err != nil {
		_ = dirs.RemoveAll(dest, to, maxCopyNames)
		m.left = m.MovedTo + ": it was renamed only, since it cannot be copied: " + err.Error()
		return m
	}
	if dirs.RemoveAll(fd, inert, 2*maxCopyNames) != nil {
		m.left = m.MovedTo + ": it was copied, and what is left could not be removed"
	}
	m.MovedTo = s.path + "/" + to
	return m
}

// addTo adds the move to the findings of a sweep.
func (m *movedOut) addTo(out *audit.Swept) {
	if m.left != "" {
		out.AddCut(m.left)
	}
	if m.Path != "" {
		out.Add(audit.Swept{Moved: []audit.Moved{m.Moved}})
	}
}

func dirOf(rel string) string { return rel[:max(strings.LastIndexByte(rel, '/'), 0)] }

// renameAway renames. If modes forbid that, it gives the owner all rights: to the directory that
// contains name, until the rename is done, and to name itself if it is a directory, since a
// rename rewrites its "..".
func renameAway(from int, name string, to int, as, kind string) error {
	err := rename(from, name, to, as)
	if err != unix.EACCES && err != unix.EPERM {
		return err
	}
	if kind == "folder" {
		dirs.AllowOwner(from, name)
	}
	var st unix.Stat_t
	if unix.Fstat(from, &st) != nil {
		return err
	}
	mode := st.Mode & 0o7777
	if unix.Chmod(dirs.FDPath(from), mode|0o700) == nil {
		defer func() { _ = unix.Chmod(dirs.FDPath(from), mode) }()
	}
	return rename(from, name, to, as)
}

// rename does not replace an existing file, if the file system supports that.
func rename(from int, name string, to int, as string) error {
	err := unix.Renameat2(from, name, to, as, unix.RENAME_NOREPLACE)
	if err == unix.EINVAL || err == unix.ENOSYS {
		return unix.Renameat(from, name, to, as)
	}
	return err
}

// swept opens the directory for moved names, and creates it the first time.
func (s *mover) swept() (int, error) {
	if s.dest >= 0 {
		return s.dest, nil
	}
	if s.run == nil {
		return -1, unix.ENOENT
	}
	run, path, err := s.run()
	if err != nil {
		return -1, err
	}
	if err = unix.Mkdirat(run, audit.SweptDir, 0o700); err != nil && err != unix.EEXIST {
		return -1, err
	}
	if s.dest, err = dirs.OpenBeneath(run, audit.SweptDir, unix.O_PATH|unix.O_DIRECTORY); err != nil {
		s.dest = -1
		return -1, err
	}
	s.path = path + "/" + audit.SweptDir
	return s.dest, nil
}

func kindOf(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return "file"
	case unix.S_IFDIR:
		return "folder"
	case unix.S_IFLNK:
		return "link"
	}
	return "other"
}
