package enclosing

import (
	"bytes"
	"sync"

	"golang.org/x/sys/unix"

	"sbx/internal/doc"
	"sbx/internal/read"
	"sbx/wrap"
)

// Parent returns the description that an outer sbx left in its sandbox as a file, or nil.
// The file counts only on a read-only mount, where no process inside could have put it.
// Parent and Free each look once and cache the result, because no process enters or leaves
// a sandbox.
func Parent() *wrap.Parent { return parentOnce() }

var parentOnce, freeOnce = sync.OnceValue(parentLeft), sync.OnceValue(parentAsked)

func parentLeft() *wrap.Parent {
	b, ok := read.Regular(wrap.ParentPath, 1<<20)
	if !ok {
		return nil
	}
	var fs unix.Statfs_t
	if unix.Statfs(wrap.ParentPath, &fs) != nil || fs.Flags&unix.ST_RDONLY == 0 {
		return nil
	}
	// Every sbx sandbox sets both. A process that merely made its own mount namespace to
	// plant the file has neither.
	status, _ := read.Proc("/proc/self/status", 1<<16)
	if !bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n")) || !bytes.Contains(status, []byte("\nSeccomp:\t2\n")) {
		return nil
	}
	return parsed(wrap.ParentPath, b)
}

// Free returns the description that an outer sbx's supervisor sends on request if the
// sandbox has no mounts of its own. It is nil where there is a Parent, and before Linux 5.14.
func Free() *wrap.Parent { return freeOnce() }

func parentAsked() *wrap.Parent {
	fd, ok := ask(wrap.BudgetSpec, 0, 0)
	if !ok {
		return nil
	}
	defer unix.Close(fd)
	b := make([]byte, 64<<10)
	n, err := unix.Pread(fd, b, 0) // other processes share this file offset
	if err != nil || n == len(b) {
		return nil
	}
	if p := parsed(wrap.FreeParent, b[:n]); p != nil && p.Free {
		return p
	}
	return nil
}

func parsed(name string, b []byte) *wrap.Parent {
	n, err := doc.ParseJSON(name, b)
	if err != nil {
		return nil
	}
	p, _ := wrap.ParseParent(n)
	return p
}

// Either returns Parent or else Free; nil if there is neither.
func Either() *wrap.Parent {
	if p := Parent(); p != nil {
		return p
	}
	return Free()
}
