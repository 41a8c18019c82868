package walls

import (
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"

	"sbx/landlock"
)

// The paths in a container of sbx-init and of the file that it reads. Every runtime mounts an
// empty tmpfs at /dev, so that these cover and create no file of the image.
const (
	Init = "/dev/.sbx-init"
	File = "/dev/.sbx-walls"
)

// Walls holds a Landlock ruleset and a syscall filter; either may be empty.
type Walls struct {
	ABI      int // the Landlock ABI that the ruleset is for
	Landlock landlock.Ruleset
	Filter   []byte // the BPF program, in the kernel's encoding
	// Listens: the filter sends notifications; its listener goes to the supervisor.
	Listens bool
	// Apart: sbx-init has the capability Apart and gives it up.
	Apart bool
	// Limits are resource limits: crun gives none to a process of exec that has no document.
	Limits []Limit
}

// Limit is the most that a resource limit may be (setrlimit(2)).
type Limit struct {
	Resource int
	Most     uint64
}

// Empty reports whether there is nothing to apply.
func (w *Walls) Empty() bool {
	return w.Landlock.Empty() && len(w.Filter) == 0 && len(w.Limits) == 0
}

// Line returns the command line of sbx-init for a command. supervisor is the number of the
// descriptor of a socket to the supervisor, 0 for none.
func Line(supervisor int, args []string) []string {
	return append([]string{Init, strconv.Itoa(supervisor)}, args...)
}

// carried marks a variable that sbx-init must not read itself: Go's runtime exits at a value of
// GOMEMLIMIT that it does not know, and GODEBUG has it write to standard error.
const carried = "sbx-init:"

// Carry returns an environment for sbx-init to start with; Environ turns it back.
func Carry(env []string) []string {
	env = slices.Clone(env)
	for i, kv := range env {
		if strings.HasPrefix(kv, "GO") {
			env[i] = carried + kv
		}
	}
	return env
}

// Environ is the environment of the command, from what Carry returned.
func Environ(env []string) []string {
	env = slices.Clone(env)
	for i, kv := range env {
		env[i] = strings.TrimPrefix(kv, carried)
	}
	return env
}

// Append encodes w for File: integers as eight bytes little-endian, strings after their length.
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
	put(uint64(len(w.Limits)))
	for _, l := range w.Limits {
		put(uint64(l.Resource))
		put(l.Most)
	}
	put(uint64(len(w.Filter)))
	return append(b, w.Filter...)
}

var errShort = errors.New("the file of the walls is cut off")

// Decode decodes what Append has encoded.
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
	for n := get(); n > 0 && err == nil; n-- {
		w.Limits = append(w.Limits, Limit{int(get()), get()})
	}
	w.Filter = bytes()
	if err == nil && len(b) > 0 {
		err = errors.New("the file of the walls goes on behind its end")
	}
	return w, err
}
