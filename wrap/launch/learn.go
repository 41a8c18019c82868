package launch

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/enclosing"
	"sbx/wrap"
)

// Learn moves down the fallback levels: from a failed step it derives what the host does
// not support. ok is false if the step reveals nothing about the host, so that the launch
// has failed for good. Each call removes something from the Host, so a caller that builds
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
			h.Outer = e.Errno == Errno(unix.EBUSY) && enclosing.Answers()
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
		return h, false // a path without permission reveals nothing about the host
	}
	if denied(e.Errno) || (e.Step.Name == "clone" || e.Step.Name == "unshare") && (e.Errno == Errno(unix.ENOSPC) || e.Errno == Errno(unix.EUSERS)) {
		return h.Without(p.Rung, why), true
	}
	return h, false
}

// maxUnlayered is for how many directories Learn gives up the layer one by one.
const maxUnlayered = 8

// withoutLayer removes the layer of the directory for which it failed.
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

// TracerOutranked is why a tracer cannot count programs under another sandbox's listener.
const TracerOutranked = "a listener outside is asked about each exec before a tracer is"

// Untraceable returns the Host after an attempt to trace the command failed.
func Untraceable(h wrap.Host, why string) wrap.Host {
	h.Tracer = wrap.Answer{State: wrap.No, Why: why}
	return h
}

// listenerWhy explains the kernel's error for a filter with a listener.
func listenerWhy(e *StepError) string {
	switch unix.Errno(e.Errno) {
	case unix.EBUSY:
		return "a listener outside has the notifications already, and there can be one only"
	case unix.EINVAL:
		return "the kernel's notifications are interrupted by signals (before Linux 6.0)"
	}
	return e.Error()
}

// aboutPath reports whether a step opens or creates a path.
func aboutPath(name string) bool {
	switch name {
	case "openat2", "mkdirat", "mknodat", "symlinkat", "fchdir", "chdir":
		return true
	}
	return false
}

// denied reports whether an errno means that the host does not support a step.
func denied(e Errno) bool {
	switch unix.Errno(e) {
	case unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EINVAL, unix.EOPNOTSUPP:
		return true
	}
	return false
}

// isOverlay reports whether a step belongs to hiding a name by an overlay.
func isOverlay(e *StepError) bool {
	if e.Step.Name == "mknodat" {
		return e.Step.Args[2].Num&unix.S_IFMT == unix.S_IFCHR
	}
	return e.Step.Name == "mount" && e.Step.Args[0].Text == "overlay"
}
