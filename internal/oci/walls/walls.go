package walls

import (
	"encoding/binary"
	"errors"
	"slices"
	"strconv"

	"sbx/landlock"
)

// The places in a container: sbx-init and the file that it reads. Every runtime mounts an
// empty tmpfs at /dev, so that nothing of the image is covered or made.
const (
	Init = "/dev/.sbx-init"
	File = "/dev/.sbx-walls"
)

// Walls are a ruleset of Landlock and a filter of system calls; either may be empty.
type Walls struct {
	ABI      int // for which the ruleset is
	Landlock landlock.Ruleset
	Filter   []byte // the program as the kernel has it
	// Listens: the filter has calls wait for the supervisor, which is sent its listener.
	Listens bool
	// Apart: the caller has the capability of that name, to give up.
	Apart bool
}

// Empty tells whether there is nothing to do.
func (w *Walls) Empty() bool { return w.Landlock.Empty() && len(w.Filter) == 0 }

// Line is the command line by which sbx-init starts a command. supervisor is the
// descriptor of a socket to the supervisor, 0 where there is none.
func Line(supervisor int, args []string) []string {
	return append([]string{Init, strconv.Itoa(supervisor)}, args...)
}

// Append writes the file: whole numbers of eight bytes, and texts behind their length.
func (w *Walls) Append(b []byte) []byte {
	put := func(v uint64) { b = binary.LittleEndian.AppendUint64(b, v) }
	is := func(v bool) uint64 {
		if v {
			return 1
		}
		return 0
	}
	l := &w.Landlock
	for _, v := range []uint64{uint64(w.ABI), uint64(l.FS), uint64(l.Net), uint64(l.Scope), uint64(len(l.Rules))} {
		put(v)
	}
	for _, r := range l.Rules {
		put(uint64(r.Allow))
		put(is(r.File))
		put(uint64(len(r.Path)))
		b = append(b, r.Path...)
	}
	put(is(w.Listens))
	put(is(w.Apart))
	put(uint64(len(w.Filter)))
	return append(b, w.Filter...)
}

var errShort = errors.New("the file of the walls is cut off")

// Decode reads the file.
func Decode(b []byte) (w Walls, err error) {
	get := func() (v uint64) {
		if len(b) < 8 {
			err = errShort
			return 0
		}
		v, b = binary.LittleEndian.Uint64(b), b[8:]
		return v
	}
	bytes := func() (s []byte) {
		n := get()
		if n > uint64(len(b)) {
			err = errShort
			return nil
		}
		s, b = b[:n], b[n:]
		return slices.Clone(s)
	}
	w.ABI = int(get())
	l := &w.Landlock
	l.FS, l.Net, l.Scope = landlock.FSSet(get()), landlock.NetSet(get()), landlock.ScopeSet(get())
	for n := get(); n > 0 && err == nil; n-- {
		r := landlock.Rule{Allow: landlock.FSSet(get()), File: get() == 1}
		r.Path = string(bytes())
		l.Rules = append(l.Rules, r)
	}
	w.Listens, w.Apart = get() == 1, get() == 1
	w.Filter = bytes()
	if err == nil && len(b) > 0 {
		err = errors.New("the file of the walls goes on behind its end")
	}
	return w, err
}
