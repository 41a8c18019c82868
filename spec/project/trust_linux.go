package project

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/spec"
)

// Store keeps which specs the caller trusts: a file for each, named by the digest of
// its path, with the digest of the bytes and the path in it.
type Store struct {
	Dir string // in sbx's state, which no command sees; "" for a caller without one
	UID int
}

// Entry is what a store holds of one spec.
type Entry struct{ Path, Digest string }

// Trusts tells whether the caller trusts the file, as it was read.
func (s Store) Trusts(f *File) bool {
	if s.Dir == "" {
		return false
	}
	e, ok := s.read(s.Dir + "/" + digest([]byte(f.Path())))
	return ok && e == Entry{f.Path(), f.Digest}
}

// Add has the caller trust the file as it was read, and no other at its place.
func (s Store) Add(f *File) error {
	if err := unix.Mkdir(s.Dir, 0o700); err != nil && err != unix.EEXIST {
		return s.failed("make it", err)
	}
	path := s.Dir + "/" + digest([]byte(f.Path()))
	part := path + ".part"
	_ = unix.Unlink(part) // of one that was killed
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

// Remove has the caller trust nothing that stands at path; false where it did not.
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

// List is what the store holds, by path.
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

// read reads one file of the store, which must be the caller's own.
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
