package wrap

import (
	"slices"

	"sbx/spec"
)

// kernels are the file systems through which the kernel shows its state and is controlled. A
// sandbox has its own instances of those that it needs, at their usual places. An instance that the
// host has elsewhere, as in the directory of a chroot, is the host's.
var kernels = []string{
	"proc",               // sysctl files that uid 0 may write, the host's processes
	"sysfs",              // likewise for devices and modules
	"devtmpfs", "devpts", // every device; other users' terminals
	"cgroup", "cgroup2", // the limits of other control groups, release_agent (CVE-2022-0492)
	"debugfs", "tracefs", // the kernel's internals
	"securityfs", "efivarfs", "configfs", "pstore", "bpf", "resctrl",
	"binfmt_misc",          // interpreters that the host runs
	"selinuxfs", "smackfs", // security policies
	"mqueue", // the host's message queues
	"nfsd", "rpc_pipefs", "fusectl", "functionfs", "binder",
}

// Kernels reports whether the mount is one of these file systems at an unusual place.
func (m *MountPoint) Kernels() bool {
	return slices.Contains(kernels, m.Type) && !under(m.Path, "/proc") && !under(m.Path, "/sys") && !under(m.Path, "/dev")
}

// OwnKernel reports whether path belongs to the kernel itself. No field opens such a path.
func (h *Host) OwnKernel(path string) bool {
	return under(path, "/proc") || under(path, "/sys") || under(path, "/dev") && !under(path, "/dev/shm") || h.kernelElsewhere(path)
}

func (h *Host) kernelElsewhere(path string) bool {
	return slices.ContainsFunc(h.Mounts, func(m MountPoint) bool { return under(path, m.Path) && m.Kernels() })
}

// maskKernels masks the kernel's file systems that are in view.
func (b *guards) maskKernels() {
	for i := range b.h.Mounts {
		if m := &b.h.Mounts[i]; m.Kernels() && b.h.Kind(m.Path) != Absent {
			b.maskImages(m.Path, b.h.Kind(m.Path), FieldProcesses, "the kernel's own; each sandbox has a safe one instead")
		}
	}
}

// kernelsOwn refuses a spec that would show or open the host's /proc, /sys or /dev, wherever the
// host has them. The sandbox has its own; through those of the host a root could leave the sandbox.
func (b *builder) kernelsOwn() {
	refuse := func(f spec.Field, at, path string) {
		b.problems = append(b.problems, &spec.Problem{Field: f, On: at, Do: "open " + path,
			Why: "it is the kernel's own; each sandbox has a safe one instead", Help: "name another path"})
	}
	own, elsewhere := b.h.OwnKernel, b.h.kernelElsewhere
	field := func(w *spec.Path) spec.Field {
		if w.Field == "" {
			return "working_dir"
		}
		return w.Field
	}
	for i := range b.r.Write {
		if w := &b.r.Write[i]; own(w.Real) {
			refuse(field(w), w.At, w.Real)
		}
	}
	for _, p := range b.r.Read {
		if elsewhere(p.Real) {
			refuse(p.Field, p.At, p.Real)
		}
	}
	for i := range b.binds {
		switch m := &b.binds[i]; {
		case under(m.Source.Real, "/proc") || elsewhere(m.Source.Real) || m.Mode == spec.MountRW && own(m.Source.Real):
			refuse(m.Field, m.At, m.Source.Real)
		case m.Source.Real == "/": // mounts under the source come along
			b.problems = append(b.problems, &spec.Problem{Field: m.Field, On: m.At, Do: "mount / at " + m.Target,
				Why: "the host's own /proc and all that is hidden would be in it", Help: "name the directories that are needed"})
		}
	}
	for i := range b.r.Write { // after the mounts: a caller who adds a writable mount also lists its source as writable
		if w := &b.r.Write[i]; w.Real == "/" {
			b.problems = append(b.problems, &spec.Problem{Field: field(w), On: w.At, Do: "make / writable",
				Why: "the host's own /proc, /sys and /dev lie in it", Help: "name the directories that are to be written"})
		}
	}
}
