package project

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/spec"
)

// Store keeps which specs the caller trusts. It has a file for each, named by the digest of the
// spec's path, with the digest of the text and the path in it.
type Store struct {
	Dir string // in sbx's state directory, which no command sees; "" for a caller without one
	UID int
}

// Entry is what a store has about one spec.
type Entry struct{ Path, Digest string }

// Trusts reports whether the caller trusts the file with the text that was read.
func (s Store) Trusts(f *File) bool {
	if s.Dir == "" {
		return false
	}
	e, ok := s.read(s.Dir + "/" + digest([]byte(f.Path())))
	return ok && e == Entry{f.Path(), f.Digest}
}

// Add stores that the caller trusts the file with the text that was read, and no other text at its
// path.
func (s Store) Add(f *File) error {
	if err := unix.Mkdir(s.Dir, 0o700); err != nil && err != unix.EEXIST {
		return s.failed("make it", err)
	}
	path := s.Dir + "/" + digest([]byte(f.Path()))
	part := path + ".part"
	_ = unix.Unlink(part) // may be left by a process that was killed
	fd, err := openat(unix.AT_FDCWD, part, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return s.failed("write to it", err)
	}
	text := []byte(f.Digest + " " + f.Path())
	n, err := unix.Write(fd, text)
	if err == nil && n < len(text) {
		err = unix.ENOSPC
	}
	if err == nil {
		err = unix.Fchmod(fd, 0o600)
	}
	if e := unix.Close(fd); err == nil {
		err = e
	}
	if err == nil {
		err = unix.Rename(part, path)
	}
	if err != nil {
		_ = unix.Unlink(part)
		return s.failed("write to it", err)
	}
	return nil
}

// Remove ends the trust in any file at path; false if there was none.
func (s Store) Remove(path string) (bool, error) {
	err := unix.Unlink(s.Dir + "/" + digest([]byte(path)))
	if err == unix.ENOENT || err == unix.ENOTDIR {
		return false, nil
	}
	if err != nil {
		return false, s.failed("write to it", err)
	}
	return true, nil
}

// List returns the entries of the store, sorted by path.
func (s Store) List() (all []Entry, err error) {
	fd, err := openat(unix.AT_FDCWD, s.Dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err == unix.ENOENT || s.Dir == "" {
		return nil, nil
	}
	if err != nil {
		return nil, s.failed("read it", err)
	}
	defer func() { _ = unix.Close(fd) }()
	var names read.Dir
	err = names.Each(fd, func(name []byte, _ byte) bool {
		if e, ok := s.read(s.Dir + "/" + string(name)); ok && digest([]byte(e.Path)) == string(name) {
			all = append(all, e)
		}
		return true
	})
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return all, err
}

// read reads a file of the store, which must belong to the caller.
func (s Store) read(path string) (e Entry, ok bool) {
	fd, err := openat(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return e, false
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != s.UID {
		return e, false
	}
	text, err := spec.ReadFD(fd, path)
	if err != nil {
		return e, false
	}
	e.Digest, e.Path, ok = strings.Cut(string(text), " ")
	return e, ok && len(e.Digest) == len(digest(nil))
}

func (s Store) failed(do string, err error) error {
	return &spec.Problem{On: s.Dir, Do: do, Why: err.Error()}
}
