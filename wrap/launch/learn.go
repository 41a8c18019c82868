package launch

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/outer"
	"sbx/wrap"
)

// Learn is the ladder: from a step that failed it tells what the host does not
// have. ok is false where the step says nothing about the host, and the launch
// has failed for good. Each call takes something away, so a caller that builds
// and launches again comes to an end.
func Learn(h wrap.Host, p *wrap.Plan, e *StepError) (next wrap.Host, ok bool) {
	if e.Program == programGroups {
		return withoutGroups(h, e)
	}
	why := e.Error()
	switch e.Step.Name {
	case "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self":
		if !denied(e.Errno) {
			return h, false
		}
		h.LandlockABI, h.LandlockWhy = 0, why
		return h, true
	case "seccomp":
		if e.Step.Args[1].Num != 0 && h.Listener.State != wrap.No {
			h.Listener = wrap.Answer{State: wrap.No, Why: listenerWhy(e)}
			h.Outer = e.Errno == Errno(unix.EBUSY) && outer.Answers()
			if e.Errno == Errno(unix.EBUSY) {
				h.Tracer = wrap.Answer{State: wrap.No, Why: TracerOutranked}
			}
			return h, true
		}
		if !denied(e.Errno) {
			return h, false
		}
		h.Seccomp = wrap.Answer{State: wrap.No, Why: why}
		return h, true
	}
	if e.Step.Name == "mount_setattr" && e.Errno == Errno(unix.ENOSYS) {
		h.SetAttr = wrap.Answer{State: wrap.No, Why: why}
		return h, true
	}
	if e.Step.On == wrap.PidMaxFile {
		h.PidMax = wrap.Answer{State: wrap.No, Why: why}
		return h, true
	}
	if isOverlay(e) && e.Step.For == wrap.FieldLayer {
		return withoutLayer(h, p, e)
	}
	if isOverlay(e) && strings.Contains(e.Step.Args[4].Text, upperOption) && h.Layer.State != wrap.No {
		h.Layer = wrap.Answer{State: wrap.No, Why: why}
		return h, true
	}
	if isOverlay(e) && h.Overlay.State != wrap.No {
		h.Overlay = wrap.Answer{State: wrap.No, Why: why}
		return h, true
	}
	if p.Rung >= wrap.RungBare || e.Program == "command" {
		return h, false
	}
	if e.Errno == Errno(unix.EACCES) && aboutPath(e.Step.Name) {
		return h, false // a path that may not be entered says nothing about the host
	}
	if denied(e.Errno) || (e.Step.Name == "clone" || e.Step.Name == "unshare") && (e.Errno == Errno(unix.ENOSPC) || e.Errno == Errno(unix.EUSERS)) {
		return h.Without(p.Rung, why), true
	}
	return h, false
}

// maxUnlayered is of how many directories it is learned one by one that no layer can lie
// over them.
const maxUnlayered = 8

// withoutLayer takes the layer from the directory for which it failed.
func withoutLayer(h wrap.Host, p *wrap.Plan, e *StepError) (wrap.Host, bool) {
	why, failed := e.Errno.Error(), 0
	h.Layers = slices.Clone(h.Layers)
	for i := range h.Layers {
		l := &h.Layers[i]
		if p.Staged(l.Dir) == e.Step.On && l.Why == "" {
			l.Why = "overlayfs refuses it: " + why
		}
		if strings.HasPrefix(l.Why, "overlayfs") {
			failed++
		}
	}
	if failed > maxUnlayered || failed == 0 || unix.Errno(e.Errno) != unix.EINVAL {
		h.Layer = wrap.Answer{State: wrap.No, Why: "overlayfs: " + why}
	}
	return h, true
}

// TracerOutranked is why no tracer can count inside another's listener.
const TracerOutranked = "a listener outside is asked about each exec before a tracer is"

// Untraceable is what is learnt from a command that cannot be traced.
func Untraceable(h wrap.Host, why string) wrap.Host {
	h.Tracer = wrap.Answer{State: wrap.No, Why: why}
	return h
}

// listenerWhy says what the kernel's answers to a filter with a listener mean.
func listenerWhy(e *StepError) string {
	switch unix.Errno(e.Errno) {
	case unix.EBUSY:
		return "a listener outside has the notifications already, and there can be one only"
	case unix.EINVAL:
		return "the kernel's notifications are interrupted by signals (before Linux 6.0)"
	}
	return e.Error()
}

// aboutPath reports whether a step opens or makes something at a path.
func aboutPath(name string) bool {
	switch name {
	case "openat2", "mkdirat", "mknodat", "symlinkat", "fchdir", "chdir":
		return true
	}
	return false
}

// denied are the errnos by which a host says that it does not do something.
func denied(e Errno) bool {
	switch unix.Errno(e) {
	case unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EINVAL, unix.EOPNOTSUPP:
		return true
	}
	return false
}

// isOverlay reports whether the step is part of hiding a name by an overlay.
func isOverlay(e *StepError) bool {
	if e.Step.Name == "mknodat" {
		return e.Step.Args[2].Num&unix.S_IFMT == unix.S_IFCHR
	}
	return e.Step.Name == "mount" && e.Step.Args[0].Text == "overlay"
}
