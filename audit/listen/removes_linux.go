package listen

import (
	"bytes"
	"sbx/audit/guard"

	"golang.org/x/sys/unix"
)

// remover removes mount points that the spec allows to be removed.
type remover struct {
	*paths
	*answers
	rules  *Rules
	remove func(path string, dir int, wantsDir bool) (e unix.Errno, ours bool) // Config.Remove
}

// removeMount answers the removal of a mount point that the spec allows to be removed: the
// supervisor removes it with no more capabilities than the caller has. It returns false
// if it has not answered the call.
func (m *remover) removeMount(c *nameCall, d *entry) bool {
	if m.remove == nil || !d.ok || !d.exists || m.rules.fixed(d) {
		return false
	}
	if g, _ := m.rules.guard(d); !d.mounted && g != guard.Pinned && g != guard.Fixed {
		return false
	}
	wantsDir, e := m.removesDir(c, d)
	if e != 0 {
		return false
	}
	path, ok := m.rules.host(d)
	if !ok {
		return false
	}
	back, ok := m.lower()
	if !ok {
		return false
	}
	e, ours := m.remove(path, d.dir, wantsDir)
	back()
	switch {
	case !ours:
		return false
	case e != 0:
		m.fail(e)
	default:
		m.answer(0)
	}
	return true
}

// removesDir reports whether a call removes a directory, and the errno if the entry is of
// the wrong type.
func (m *remover) removesDir(c *nameCall, d *entry) (wantsDir bool, e unix.Errno) {
	wantsDir = c.action == removeDir
	if c.takes.dir >= 0 { // unlinkat
		flags := m.call.Args[2]
		if flags&^unix.AT_REMOVEDIR != 0 {
			return false, unix.EINVAL
		}
		wantsDir = flags != 0
	}
	asked := &m.work[1].path
	end := bytes.IndexByte(asked[:], 0)
	switch isDir := d.kind == unix.S_IFDIR; {
	case isDir && !wantsDir:
		return wantsDir, unix.EISDIR
	case !isDir && (wantsDir || end > 0 && asked[end-1] == '/'):
		return wantsDir, unix.ENOTDIR
	}
	return wantsDir, 0
}
