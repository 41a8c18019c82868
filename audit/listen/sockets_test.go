package listen

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func socket(t *testing.T) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// elsewhere runs f in a thread of its own, which ends afterwards, so that f may change the thread's
// attributes.
func elsewhere(t *testing.T, f func()) {
	t.Helper()
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() { // the main thread, which lasts as long as the process
			elsewhere(t, f)
			runtime.UnlockOSThread()
			return
		}
		f() // and never unlocked: the thread ends
	}()
	<-done
}

func cookieOf(t *testing.T, fd int) uint64 {
	t.Helper()
	v, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, 57) // SO_COOKIE identifies the socket
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestADescriptorIsTheThreadsOwn: socketOf copies from the thread's own descriptor table, with and
// without pidfds of threads.
func TestADescriptorIsTheThreadsOwn(t *testing.T) {
	shared := socket(t)
	defer unix.Close(shared)
	for _, old := range []bool{false, true} {
		elsewhere(t, func() {
			l := &copies{caller: &caller{}, oldPidfds: old}
			l.n.TID = uint32(unix.Gettid())
			fd, e := l.socketOf(int32(shared))
			if e != 0 || cookieOf(t, fd) != cookieOf(t, shared) {
				t.Errorf("old %v: shared: %v", old, e)
			}
			unix.Close(fd)
			if _, e := l.socketOf(9999); e != unix.EBADF {
				t.Errorf("old %v: none: %v", old, e)
			}
			if _, e := l.socketOf(-1); e != unix.EBADF {
				t.Errorf("old %v: -1: %v", old, e)
			}
			if err := unix.Unshare(unix.CLONE_FILES); err != nil {
				t.Error(err)
				return
			}
			own := socket(t)
			if err := unix.Dup2(own, shared); err != nil {
				t.Error(err)
			}
			fd, e = l.socketOf(int32(shared))
			switch {
			case old && e != unix.EPERM: // nobody can copy it
				t.Errorf("its own, by the process: %v", e)
			case !old && (e != 0 || cookieOf(t, fd) != cookieOf(t, own)):
				t.Errorf("its own: %v", e)
			}
			if fd, e = l.socketOf(int32(own)); old && e != unix.EPERM || !old && e != 0 {
				t.Errorf("old %v: what the process has not: %d %v", old, fd, e)
			}
		})
	}
}

// TestANumberOfAThreadIsNotTrusted: socketOf notices that another thread has the same number now.
func TestANumberOfAThreadIsNotTrusted(t *testing.T) {
	l := &copies{caller: &caller{}}
	elsewhere(t, func() {
		l.n.TID = uint32(unix.Gettid())
		if fd, e := l.socketOf(0); e != 0 {
			t.Error(e)
		} else {
			unix.Close(fd)
		}
	})
	gone := l.thread
	for unix.Tgkill(unix.Getpid(), int(gone.tid), 0) == nil {
		time.Sleep(time.Millisecond)
	}
	if _, e := l.socketOf(0); e != unix.ESRCH {
		t.Errorf("a thread that is gone: %v", e)
	}
	l.n.TID, l.thread = uint32(unix.Gettid()), thread{uint32(unix.Gettid()), gone.fd}
	again, err := unix.PidfdOpen(unix.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	l.thread.fd = again
	if fd, e := l.socketOf(0); e != 0 {
		t.Errorf("another thread: %v", e)
	} else {
		unix.Close(fd)
	}
}

// TestSocketsThatWereMadeAreKnown: a socket that was bound inside is recognised by its file,
// whatever happens to the name.
func TestSocketsThatWereMadeAreKnown(t *testing.T) {
	t.Chdir(t.TempDir())
	bind := func(name string, expected bool) (m *boundSockets, id inode) {
		t.Helper()
		m = &boundSockets{}
		s := socket(t)
		defer unix.Close(s)
		if expected {
			own, err := unix.Dup(s)
			if err != nil {
				t.Fatal(err)
			}
			m.expect(own, &discards{})
		}
		if err := unix.Bind(s, &unix.SockaddrUnix{Name: name}); err != nil {
			t.Fatal(err)
		}
		mayAsk(t, s)
		return m, idOf(t, name)
	}
	m, one := bind("one", true)
	if !m.has(one) {
		t.Error("it is not known")
	}
	if err := unix.Rename("one", "renamed"); err != nil {
		t.Fatal(err)
	}
	if !m.has(idOf(t, "renamed")) || len(m.pending) != 0 {
		t.Error("renamed: it is not known")
	}
	n, other := bind("other", false)
	if m.has(other) || n.has(other) {
		t.Error("another's is known")
	}
	again := one
	again.born.Nsec++
	if m.has(again) {
		t.Error("what was born later is known")
	}
	for i := range maxBoundSockets {
		m.note(inode{dev: 1, ino: uint64(i), born: one.born})
	}
	if m.has(one) || len(m.files) != maxBoundSockets || len(m.order) != maxBoundSockets {
		t.Errorf("it is not forgotten: %d %d", len(m.files), len(m.order))
	}
	if !m.has(inode{dev: 1, ino: 0, born: one.born}) || !m.has(inode{dev: 1, ino: maxBoundSockets - 1, born: one.born}) {
		t.Error("too many are forgotten")
	}
}

// TestFilesThatAreHeld: a file without a time of birth is kept open, so that its inode number is
// not reused.
func TestFilesThatAreHeld(t *testing.T) {
	m := &boundSockets{}
	var first int
	for i := range maxPinned + 1 {
		fd, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = fd
		}
		m.pin(inode{dev: 1, ino: uint64(i)}, fd)
	}
	if m.has(inode{dev: 1}) || !m.has(inode{dev: 1, ino: 1}) || !m.has(inode{dev: 1, ino: maxPinned}) || len(m.pinned) != maxPinned {
		t.Error("the first is not forgotten, or others are")
	}
	if _, err := unix.FcntlInt(uintptr(first), unix.F_GETFD, 0); err != unix.EBADF {
		t.Error("it is still open: " + strconv.Itoa(first))
	}
	for _, p := range m.pinned {
		unix.Close(p.fd)
	}
}

// TestBindsThatFail: the listener waits only for a limited time for a failed bind to take effect,
// and for a limited number of binds at once.
func TestBindsThatFail(t *testing.T) {
	s := socket(t)
	mayAsk(t, s)
	unix.Close(s)
	m, d := &boundSockets{}, &discards{}
	for range 2 * maxPending {
		m.expect(socket(t), d)
	}
	if n := len(m.pending); n > maxPending {
		t.Errorf("%d are waited for", n)
	}
	now, asked := time.Now(), 0
	for wait := m.ask(now.Add(askFirst)); wait > 0; wait = m.ask(now.Add(askFirst)) {
		if m.ask(now); asked == maxAsked {
			t.Fatalf("%d are still waited for", len(m.pending))
		}
		now, asked = now.Add(wait), asked+1
	}
	if asked == 0 || len(m.pending) != 0 {
		t.Errorf("asked %d times, %d are waited for", asked, len(m.pending))
	}
	for end := time.Now().Add(20 * time.Second); d.count() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d are not closed", d.count())
		}
	}
}

// mayAsk skips a test if this user may not ask a socket for its file: outside of a sandbox that
// requires privileges over the network.
func mayAsk(t *testing.T, sock int) {
	t.Helper()
	if fd, e := boundTo(sock); e == unix.EPERM {
		t.Skip("this user may not ask a socket for its file in its own network")
	} else if e == 0 {
		unix.Close(fd)
	}
}

func idOf(t *testing.T, name string) inode {
	t.Helper()
	fd, err := unix.Open(name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	id, _, e := inodeOf(fd)
	if e != 0 {
		t.Fatal(e)
	}
	return id
}
