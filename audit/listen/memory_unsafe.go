package listen

import (
	"bytes"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readInto reads the path at addr in the caller's memory into buf, which has pathMax
// bytes. EFAULT and ENAMETOOLONG are what the kernel would answer; any other error means
// that the supervisor may not read the memory.
// A read that crosses into an unmapped page fails, so readInto reads up to the end of a
// page and goes on to the next only if the path does. It begins with shortPath bytes:
// most paths are short, and copying a page takes longer.
func (c *caller) readInto(addr uint64, buf []byte) ([]byte, unix.Errno) {
	have := uint64(0)
	for part := min(pageSize-addr%pageSize, shortPath); ; part = min(pathMax-have, pageSize-(addr+have)%pageSize) {
		e := c.copyIn(buf[have:have+part], addr+have)
		if e == unix.EFAULT || e != 0 && have == 0 {
			return nil, e
		}
		if e != 0 { // the thread is gone
			return nil, unix.EFAULT
		}
		if i := bytes.IndexByte(buf[have:have+part], 0); i >= 0 {
			return buf[:have+uint64(i)+1], 0
		}
		if have += part; have == pathMax {
			return nil, unix.ENAMETOOLONG
		}
	}
}

// copyIn fills buf from addr in the caller's memory. It returns EFAULT if part of the
// range is not mapped.
func (c *caller) copyIn(buf []byte, addr uint64) unix.Errno {
	if c.byFile {
		return c.copyByFile(buf, addr)
	}
	local := unix.Iovec{Base: &buf[0], Len: uint64(len(buf))}
	remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(buf)}
	n, _, e := unix.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(c.n.TID), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	switch {
	case e == unix.EPERM || e == unix.ENOSYS: // denied for this program, or by a container's filter for all
		e = c.copyByFile(buf, addr)
		c.byFile = e == 0
	case e == 0 && int(n) < len(buf):
		e = unix.EFAULT
	}
	return e
}

// copyByFile is the fallback of copyIn through /proc/TID/mem, for hosts where
// process_vm_readv(2) is denied.
func (c *caller) copyByFile(buf []byte, addr uint64) unix.Errno {
	fd, e := openFile(c.proc("mem", -1))
	if e != 0 {
		return unix.EPERM
	}
	defer unix.Close(fd)
	n, _, e := unix.Syscall6(unix.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), uintptr(addr), 0, 0)
	if e != 0 || int(n) < len(buf) {
		return unix.EFAULT
	}
	return 0
}

// readHow reads openat2's struct open_how from the caller's memory.
func (c *caller) readHow(addr uint64) (w unix.OpenHow, e unix.Errno) {
	e = c.copyIn(unsafe.Slice((*byte)(unsafe.Pointer(&w)), unix.SizeofOpenHow), addr)
	return w, e
}

// shortPath is how many bytes of a path readInto reads at first.
const shortPath = 256

// pageSize is the smallest page of both architectures. With larger pages a path is read
// in more pieces than necessary.
const pageSize = 4096

// readAddress reads the address argument of a connect or bind. EINVAL means that its length
// is invalid.
func (c *caller) readAddress(a *address) unix.Errno {
	length := int32(c.call.Args[2])
	if length < 0 || length > maxAddress {
		return unix.EINVAL
	}
	a.n = int(length)
	if length == 0 {
		return 0
	}
	return c.copyIn(a.b[:length], c.call.Args[1])
}
