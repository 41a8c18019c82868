package outer

import (
	"bytes"
	"sync"

	"golang.org/x/sys/unix"

	"sbx/internal/doc"
	"sbx/internal/read"
	"sbx/wrap"
)

// Parent is what an outer sbx left for those inside its sandbox, or nil. Only
// a file on a read-only mount counts: inside, nobody could have put it there.
// It is looked for once, as what Free tells is asked once: no process
// leaves a sandbox, or comes into one.
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
	// Every sbx sandbox has both; who makes a namespace of its own to put a file
	// there has neither.
	status, _ := read.Proc("/proc/self/status", 1<<16)
	if !bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n")) || !bytes.Contains(status, []byte("\nSeccomp:\t2\n")) {
		return nil
	}
	return parsed(wrap.ParentPath, b)
}

// Free is what an outer sbx's supervisor tells those inside where nothing is
// mounted, or nil: where there is a Parent, and before Linux 5.14.
func Free() *wrap.Parent { return freeOnce() }

func parentAsked() *wrap.Parent {
	fd, ok := ask(wrap.BudgetSpec, 0, 0)
	if !ok {
		return nil
	}
	defer unix.Close(fd)
	b := make([]byte, 64<<10)
	n, err := unix.Pread(fd, b, 0) // the place in the file is shared with others
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

// Either is the one of Parent and Free that there is, or nil.
func Either() *wrap.Parent {
	if p := Parent(); p != nil {
		return p
	}
	return Free()
}
