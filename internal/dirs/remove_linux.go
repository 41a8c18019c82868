package dirs

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// maxDepth is how many nested directories a removal holds open at once.
const maxDepth = 40

// RemoveAll removes name in dir with everything under it, names in all at most; beyond that
// it fails with EMLINK.
func RemoveAll(dir int, name string, names int) error {
	r := remover{names: names}
	return r.tree(dir, name, 0)
}

// remover removes a directory tree. A directory deeper than maxDepth is moved up into top,
// the root of the tree, and removed from there.
type remover struct {
	names  int // that may still be removed
	top    int // the descriptor of the root
	raised int // directories moved up so far
}

func (r *remover) tree(dir int, name string, depth int) error {
	if r.names--; r.names < 0 {
		return unix.EMLINK
	}
	err := unix.Unlinkat(dir, name, 0)
	if err != unix.EISDIR {
		return err
	}
	fd, err := OpenReadable(dir, name)
	if err != nil {
		return err
	}
	defer Close(fd)
	_ = unix.Fchmod(fd, 0o700) // otherwise its mode may forbid to remove its entries or to move it
	if depth > maxDepth {
		return r.raise(dir, name)
	}
	if depth == 0 {
		r.top = fd
	}
	for before := -1; before != r.raised; { // the root is read again for directories moved up into it
		before = r.raised
		if err := r.content(fd, depth); err != nil {
			return err
		}
		if depth > 0 {
			break
		}
	}
	return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
}

func (r *remover) content(fd, depth int) error {
	if _, err := unix.Seek(fd, 0, unix.SEEK_SET); err != nil {
		return err
	}
	var list []string
	f := Reader{FD: fd, Buf: make([]byte, 8<<10)}
	for e, ok := f.Next(); ok && len(list) <= r.names; e, ok = f.Next() {
		list = append(list, string(e.Name))
	}
	for _, sub := range list {
		if err := r.tree(fd, sub, depth+1); err != nil {
			return err
		}
	}
	return f.Err
}

func (r *remover) raise(dir int, name string) error {
	for {
		r.raised++
		err := unix.Renameat2(dir, name, r.top, "raised-"+strconv.Itoa(r.raised), unix.RENAME_NOREPLACE)
		if err != unix.EEXIST {
			return err
		}
	}
}
