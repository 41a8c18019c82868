package audit

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The bounds of a copy, which a move from another mount is.
const (
	maxCopyBytes = 256 << 20
	maxCopyNames = 20_000
	maxCopyDepth = 40
)

// movedOut is a move and what of it was left undone.
type movedOut struct {
	Moved
	left string
}

// move takes name out of the open folder fd into the run's folder. Where a
// rename cannot reach that, the name is first given up in one step, for
// another that no program looks for, and then copied and removed.
func (s *Sweep) move(fd int, name, path string, st *unix.Statx_t) (movedOut, error) {
	m := movedOut{Moved: Moved{Path: path, Kind: kindOf(uint32(st.Mode))}}
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
	return s.moveFar(fd, name, to, dest, m)
}

// moveFar is move where a rename does not reach: to another mount, or nowhere
// at all when the run's folder cannot be had.
func (s *Sweep) moveFar(fd int, name, to string, dest int, m movedOut) (movedOut, error) {
	random, err := randomHex()
	if err != nil {
		return m, err
	}
	inert := ".sbx-swept-" + random
	if err = renameAway(fd, name, fd, inert, m.Kind); err != nil {
		return m, err
	}
	s.moved++
	m.MovedTo = m.Path[:strings.LastIndexByte(m.Path, '/')+1] + inert
	if dest < 0 {
		m.left = m.MovedTo + ": it was renamed only, since the run's folder cannot be opened"
		return m, nil
	}
	c := copier{bytes: maxCopyBytes, names: maxCopyNames}
	if err = c.copy(fd, inert, dest, to, 0); err != nil {
		removeAll(dest, to, maxCopyNames)
		m.left = m.MovedTo + ": it was renamed only, since it cannot be copied: " + err.Error()
		return m, nil
	}
	if removeAll(fd, inert, 2*maxCopyNames) != nil {
		m.left = m.MovedTo + ": it was copied, and what is left could not be removed"
	}
	m.MovedTo = s.path + "/" + to
	return m, nil
}

// renameAway renames, and where modes are in the way opens them for the
// owner: of the folder that name stands in, for as long as it takes, and of
// name itself when it is a folder, since its ".." is rewritten.
func renameAway(from int, name string, to int, as, kind string) error {
	err := rename(from, name, to, as)
	if err != unix.EACCES && err != unix.EPERM {
		return err
	}
	if kind == "folder" {
		openMode(from, name)
	}
	var st unix.Stat_t
	if unix.Fstat(from, &st) != nil {
		return err
	}
	mode := st.Mode & 0o7777
	if unix.Chmod(fdPath(from), mode|0o700) == nil {
		defer unix.Chmod(fdPath(from), mode)
	}
	return rename(from, name, to, as)
}

// rename never replaces anything, where the file system knows how not to.
func rename(from int, name string, to int, as string) error {
	err := unix.Renameat2(from, name, to, as, unix.RENAME_NOREPLACE)
	if err == unix.EINVAL || err == unix.ENOSYS {
		return unix.Renameat(from, name, to, as)
	}
	return err
}

// swept opens the folder for what is moved, and makes it the first time.
func (s *Sweep) swept() (int, error) {
	if s.dest >= 0 {
		return s.dest, nil
	}
	if s.Run == nil {
		return -1, unix.ENOENT
	}
	run, path, err := s.Run()
	if err != nil {
		return -1, err
	}
	if err = unix.Mkdirat(run, "swept", 0o700); err != nil && err != unix.EEXIST {
		return -1, err
	}
	if s.dest, err = openBeneath(run, "swept", unix.O_PATH|unix.O_DIRECTORY); err != nil {
		s.dest = -1
		return -1, err
	}
	s.path = path + "/swept"
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

// openMode gives a folder's owner all rights to it, through a descriptor.
func openMode(dir int, name string) bool {
	fd, err := openBeneath(dir, name, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Chmod(fdPath(fd), 0o700) == nil
}

// fdPath is a name for what a descriptor holds, also for an O_PATH one.
func fdPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// copier copies within bounds, by descriptors, following nothing: files,
// folders, and links as links. Devices, FIFOs and sockets are dropped.
type copier struct {
	bytes int64
	names int
}

func (c *copier) copy(from int, name string, to int, as string, depth int) error {
	if c.names--; c.names < 0 {
		return unix.EMLINK
	}
	if depth > maxCopyDepth {
		return unix.ENAMETOOLONG
	}
	var st unix.Stat_t
	if err := unix.Fstatat(from, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return c.file(from, name, to, as, st.Mode&0o700)
	case unix.S_IFLNK:
		buf := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(from, name, buf)
		if err != nil {
			return err
		}
		return unix.Symlinkat(string(buf[:n]), to, as)
	case unix.S_IFDIR:
		return c.folder(from, name, to, as, depth)
	}
	return nil
}

func (c *copier) file(from int, name string, to int, as string, mode uint32) error {
	in, err := openat(from, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(in)
	out, err := openat(to, as, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(out)
	var st unix.Stat_t
	if err = unix.Fstat(in, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil // swapped meanwhile for something that is dropped
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(in, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return err
		}
		if c.bytes -= int64(n); c.bytes < 0 {
			return unix.EFBIG
		}
		if err = writeAll(out, buf[:n]); err != nil {
			return err
		}
	}
}

func (c *copier) folder(from int, name string, to int, as string, depth int) error {
	in, err := openReadable(from, name)
	if err != nil {
		return err
	}
	defer unix.Close(in)
	if err = unix.Mkdirat(to, as, 0o700); err != nil {
		return err
	}
	out, err := openBeneath(to, as, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(out)
	f := folder{fd: in, buf: make([]byte, 8<<10)}
	for e, ok := f.next(); ok; e, ok = f.next() {
		sub := string(e.name)
		if err = c.copy(in, sub, out, sub, depth+1); err != nil {
			return err
		}
	}
	return f.err
}

// openReadable opens a folder, and makes it readable to its owner where it
// must: it was moved away from where its mode meant anything.
func openReadable(dir int, name string) (int, error) {
	fd, err := openBeneath(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err == unix.EACCES && openMode(dir, name) {
		fd, err = openBeneath(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
	}
	return fd, err
}

// removeAll removes name beneath dir with all that it holds, within a bound.
func removeAll(dir int, name string, names int) error {
	_, err := removeTree(dir, name, names, 0)
	return err
}

func removeTree(dir int, name string, names, depth int) (int, error) {
	if names--; names < 0 {
		return names, unix.EMLINK
	}
	err := unix.Unlinkat(dir, name, 0)
	if err != unix.EISDIR {
		return names, err
	}
	if depth > maxCopyDepth {
		return names, unix.ENAMETOOLONG
	}
	fd, err := openReadable(dir, name)
	if err != nil {
		return names, err
	}
	defer unix.Close(fd)
	var list []string
	f := folder{fd: fd, buf: make([]byte, 8<<10)}
	for e, ok := f.next(); ok && len(list) <= names; e, ok = f.next() {
		list = append(list, string(e.name))
	}
	for _, sub := range list {
		if names, err = removeTree(fd, sub, names, depth+1); err != nil {
			return names, err
		}
	}
	return names, unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
}
