package launch

import (
	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// Rlimit is one of the command's resource limits, soft and hard.
type Rlimit struct {
	Resource int
	unix.Rlimit
	For spec.Field
}

// rlimits returns a plan's resource limits, none above the caller's own. files is the
// caller's RLIMIT_NOFILE, which the Go runtime has changed for this process.
func rlimits(l *wrap.Limits, files unix.Rlimit) (list []Rlimit) {
	bound := func(resource int, most uint64, have unix.Rlimit, f spec.Field) {
		have.Cur, have.Max = min(have.Cur, most), min(have.Max, most)
		list = append(list, Rlimit{resource, have, f})
	}
	own := func(resource int) (r unix.Rlimit) {
		if unix.Getrlimit(resource, &r) != nil {
			r = unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		}
		return r
	}
	if l.Files != 0 {
		if files.Max == 0 {
			files = own(unix.RLIMIT_NOFILE)
		}
		bound(unix.RLIMIT_NOFILE, l.Files, files, "limits.open_files")
	}
	if l.FileSize != 0 {
		bound(unix.RLIMIT_FSIZE, l.FileSize, own(unix.RLIMIT_FSIZE), "limits.file_size")
	}
	if l.Procs != 0 {
		bound(unix.RLIMIT_NPROC, l.Procs, own(unix.RLIMIT_NPROC), "limits.pids")
	}
	return list
}

// rlimits writes the steps that set the command's limits.
func (l *list) rlimits(limits []Rlimit) {
	for _, r := range limits {
		l.field = r.For
		l.add(unix.SYS_PRLIMIT64, "prlimit64", num(0), num(r.Resource), data(words(r.Cur, r.Max)), num(0))
	}
	l.field = ""
}
