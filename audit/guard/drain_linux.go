package guard

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
	"sbx/internal/view"
)

// maxRounds bounds one Drain: a busy tree must not keep the supervisor busy.
const maxRounds = 16

// Drain reads the pending events without waiting and returns those that matter. now is the time
// that goes into the record.
func (x *Watch) Drain(now time.Time) []audit.Notice {
	var out []audit.Notice
	for _, path := range x.early {
		out = append(out, audit.Notice{Path: path, At: now, What: audit.Appeared})
	}
	x.early = nil
	for round := 0; round < maxRounds; round++ {
		n, err := unix.Read(x.fd, x.events)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		out = x.take(out, x.events[:n], now)
	}
	return out
}

// take decodes struct inotify_event (inotify(7)): wd, mask, cookie and len of four bytes
// each, then the name.
func (x *Watch) take(out []audit.Notice, b []byte, now time.Time) []audit.Notice {
	for len(b) >= unix.SizeofInotifyEvent {
		wd := int32(binary.LittleEndian.Uint32(b))
		mask := binary.LittleEndian.Uint32(b[4:])
		size := unix.SizeofInotifyEvent + int(binary.LittleEndian.Uint32(b[12:]))
		if size > len(b) {
			break
		}
		name := b[unix.SizeofInotifyEvent:size]
		for i, c := range name {
			if c == 0 {
				name = name[:i]
				break
			}
		}
		b = b[size:]
		out = x.event(out, wd, mask, string(name), now)
	}
	return out
}

func (x *Watch) event(out []audit.Notice, wd int32, mask uint32, name string, now time.Time) []audit.Notice {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		out = append(out, audit.Notice{At: now, What: audit.Overflow})
		for i := range x.files {
			out = x.compare(out, i, now, now)
		}
		return x.around(out, now)
	}
	if m := x.masks[wd]; m != nil {
		return x.opened(out, wd, m, mask, now)
	}
	d := x.dirs[wd]
	if d == nil {
		return out
	}
	if mask&unix.IN_IGNORED != 0 {
		delete(x.dirs, wd) // the directory itself is gone
		return out
	}
	if i, ok := d.names[name]; ok {
		switch {
		case mask&(unix.IN_MOVED_TO|unix.IN_CREATE) != 0:
			out = x.note(out, i, audit.Replaced, now)
			return x.regard(out, x.files[i].path, now)
		case mask&(unix.IN_MOVED_FROM|unix.IN_DELETE) != 0:
			out = x.note(out, i, audit.Removed, now)
			return x.regard(out, x.files[i].path, now)
		}
	}
	if d.in == nil || mask&(unix.IN_CREATE|unix.IN_MOVED_TO) == 0 {
		return out
	}
	if x.busy(wd, d, mask) {
		return out
	}
	rel := dirs.Join(d.rel, name)
	path := view.Join(d.in.path, rel)
	if x.isNew(path, rel) {
		return append(out, audit.Notice{Path: path, At: now, What: audit.Appeared})
	}
	if mask&unix.IN_ISDIR != 0 && len(x.dirs) < maxWatched && x.worth(path, name, rel) {
		x.follow(place{d.in, rel}, func(path string) {
			out = append(out, audit.Notice{Path: path, At: now, What: audit.Appeared})
		})
	}
	return out
}

// maxIdle is how many files the command may create in a watched directory before the watch on
// it ends: a command that unpacks thousands of files must not pay for each. The sweep at the
// end covers the directory. Directories of guarded files stay watched.
const maxIdle = 100

// busy counts the files created in a directory, ends the watch on it when there are more than
// maxIdle, and reports whether the watch has ended.
func (x *Watch) busy(wd int32, d *watched, mask uint32) bool {
	if d.left || mask&unix.IN_ISDIR != 0 {
		return d.left
	}
	if d.made++; d.made > maxIdle && d.names == nil && d.rel != "" {
		d.left = true
		_, _ = unix.InotifyRmWatch(x.fd, uint32(wd))
	}
	return d.left
}
