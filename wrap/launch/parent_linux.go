package launch

import (
	"bytes"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// Parent is what an outer sbx left for those inside its sandbox, or nil. Only
// a file on a read-only mount counts: inside, nobody could have put it there.
func Parent() *wrap.Parent {
	b, ok := readRegular(wrap.ParentPath, 1<<20)
	if !ok {
		return nil
	}
	var fs unix.Statfs_t
	if unix.Statfs(wrap.ParentPath, &fs) != nil || fs.Flags&unix.ST_RDONLY == 0 {
		return nil
	}
	// Every sbx sandbox has both; who makes a namespace of its own to put a file
	// there has neither.
	status, _ := readProc("/proc/self/status", 1<<16)
	if !bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n")) || !bytes.Contains(status, []byte("\nSeccomp:\t2\n")) {
		return nil
	}
	n, err := spec.ParseJSON(wrap.ParentPath, b)
	if err != nil {
		return nil
	}
	p, _ := wrap.ParseParent(n)
	return p
}
