package listen

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/audit/guard"
	"sbx/internal/read"
)

// removes answers the removal of a mount point that the spec allows to be removed: the
// supervisor removes it with no more capabilities than the caller has. It returns false
// if it has not answered the call.
func (n *namer) removes(c *nameCall, d *entry) bool {
	if n.remove == nil || !d.ok || !d.exists || n.rules.fixed(d) {
		return false
	}
	if g, _ := n.rules.guard(d); !d.mounted && g != guard.Pinned && g != guard.Fixed {
		return false
	}
	folder, e := n.asFolder(c, d)
	if e != 0 {
		return false
	}
	path, ok := n.rules.host(d)
	if !ok {
		return false
	}
	back, ok := n.lower()
	if !ok {
		return false
	}
	e, ours := n.remove(path, d.dir, folder)
	back()
	switch {
	case !ours:
		return false
	case e != 0:
		n.fail(e)
	default:
		n.answer(0)
	}
	return true
}

// asFolder reports whether a call removes a directory, and the errno if the entry is of
// the wrong type.
func (n *namer) asFolder(c *nameCall, d *entry) (folder bool, e unix.Errno) {
	folder = c.action == removeFolder
	if c.takes.dir >= 0 { // unlinkat
		flags := n.call.Args[2]
		if flags&^unix.AT_REMOVEDIR != 0 {
			return false, unix.EINVAL
		}
		folder = flags != 0
	}
	asked := &n.work[1].path
	end := bytes.IndexByte(asked[:], 0)
	switch isDir := d.kind == unix.S_IFDIR; {
	case isDir && !folder:
		return folder, unix.EISDIR
	case !isDir && (folder || end > 0 && asked[end-1] == '/'):
		return folder, unix.ENOTDIR
	}
	return folder, 0
}

// lower drops from this thread's effective set the capabilities that the caller does not
// have, until back is called. It fails if the caller's user differs from the supervisor's
// or its status cannot be read.
func (c *caller) lower() (back func(), ok bool) {
	status := read.Status(strconv.Itoa(int(c.n.TID)))
	caps, ok := sameUser(status, unix.Geteuid(), unix.Getegid())
	if !ok || !c.waits() {
		return nil, false
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var own [2]unix.CapUserData
	if unix.Capget(&header, &own[0]) != nil {
		return nil, false
	}
	less := own
	less[0].Effective &= uint32(caps)
	less[1].Effective &= uint32(caps >> 32)
	if less == own {
		return func() {}, true
	}
	if unix.Capset(&header, &less[0]) != nil {
		return nil, false
	}
	return func() { _ = unix.Capset(&header, &own[0]) }, true // they are permitted still
}

// sameUser reads a status file, proc_pid_status(5). It returns the thread's effective
// capabilities and whether its filesystem uid and gid are those given.
func sameUser(status string, uid, gid int) (caps uint64, ok bool) {
	caps, err := strconv.ParseUint(read.StatusLine(status, "CapEff:"), 16, 64)
	last := func(name string) string { // the id that counts for files
		line := read.StatusLine(status, name)
		return line[strings.LastIndexByte(line, '\t')+1:]
	}
	return caps, err == nil && last("Uid:") == strconv.Itoa(uid) && last("Gid:") == strconv.Itoa(gid)
}
