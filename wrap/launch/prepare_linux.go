package launch

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// maskVariable carries the caller's signal mask through the second start of a
// program that was linked without its entry point.
const maskVariable = "SBX_SIGNAL_MASK"

// Prepare returns what the command inherits, and makes sure that the signals
// to be forwarded are blocked in every thread. The entry point has done that;
// a program that was linked without it starts itself once more with the mask
// set, and has then lost which signals its caller ignored and the soft limit
// of descriptors.
func Prepare(environ []string) (Caller, error) {
	c := Inherited()
	if c.Noted {
		return c, nil
	}
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, maskVariable+"="); ok {
			mask, err := strconv.ParseUint(v, 16, 64)
			c.Mask = mask
			return c, err
		}
	}
	var old [2]uint64
	set := [2]uint64{forwarded}
	sigmask(&set, &old)
	environ = append(environ[:len(environ):len(environ)], maskVariable+"="+strconv.FormatUint(old[0], 16))
	return c, syscall.Exec("/proc/self/exe", arguments(), environ)
}

// arguments are this process's, as the kernel has them.
func arguments() []string {
	b, _ := readProc("/proc/self/cmdline", 1<<21)
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// Environ is environ without what Prepare put there.
func Environ(environ []string) []string {
	for i, kv := range environ {
		if strings.HasPrefix(kv, maskVariable+"=") {
			return append(environ[:i:i], environ[i+1:]...)
		}
	}
	return environ
}

// Unblock puts the caller's signal mask back on this thread, for a verb that
// is no supervisor: what the entry point blocked reaches it here.
func Unblock() {
	if c := Inherited(); c.Noted {
		set := [2]uint64{c.Mask}
		sigmask(&set, nil)
	}
}

// children are the pids of this process's children.
func children() []int {
	var pids []int
	p := prober{}
	fd, err := unix.Open("/proc/self/task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	p.entries(fd, func(name []byte, _ byte) bool {
		b, _ := readProc("/proc/self/task/"+string(name)+"/children", 1<<20)
		for _, f := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(f); err == nil {
				pids = append(pids, pid)
			}
		}
		return true
	})
	return pids
}
