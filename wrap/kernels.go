package wrap

import (
	"slices"

	"sbx/spec"
)

// kernels are the file systems by which the kernel shows itself and is told what
// to do. A sandbox has its own of those that it needs, at their usual places; one
// that the host has elsewhere, as in the directory of a chroot, is the host's.
var kernels = []string{
	"proc",               // sysctl files that uid 0 may write, the host's processes
	"sysfs",              // the same of devices and modules
	"devtmpfs", "devpts", // every device; the terminals of others
	"cgroup", "cgroup2", // other control groups' limits, release_agent (CVE-2022-0492)
	"debugfs", "tracefs", // the kernel's inside
	"securityfs", "efivarfs", "configfs", "pstore", "bpf", "resctrl",
	"binfmt_misc",          // interpreters that the host runs
	"selinuxfs", "smackfs", // policies
	"mqueue", // the host's message queues
	"nfsd", "rpc_pipefs", "fusectl", "functionfs", "binder",
}

// Kernels reports whether it is one of those, at an unusual place.
func (m *MountPoint) Kernels() bool {
	return slices.Contains(kernels, m.Type) && !under(m.Path, "/proc") && !under(m.Path, "/sys") && !under(m.Path, "/dev")
}

// OwnKernel reports whether path is the kernel's own, which no field opens.
func (h *Host) OwnKernel(path string) bool {
	return under(path, "/proc") || under(path, "/sys") || under(path, "/dev") && !under(path, "/dev/shm") || h.kernelElsewhere(path)
}

func (h *Host) kernelElsewhere(path string) bool {
	return slices.ContainsFunc(h.Mounts, func(m MountPoint) bool { return under(path, m.Path) && m.Kernels() })
}

// maskKernels hides the kernel's file systems that lie in view.
func (b *guards) maskKernels() {
	for i := range b.h.Mounts {
		if m := &b.h.Mounts[i]; m.Kernels() && b.h.Kind(m.Path) != Absent {
			b.maskImages(m.Path, b.h.Kind(m.Path), FieldProcesses, "the kernel's own; each sandbox has a safe one instead")
		}
	}
}

// kernelsOwn refuses what would show or open the host's /proc, /sys or /dev, where
// the host has them and wherever else: the sandbox has its own, and those of the
// host are ways out for a root.
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
		case m.Source.Real == "/": // what is mounted under comes along
			b.problems = append(b.problems, &spec.Problem{Field: m.Field, On: m.At, Do: "mount / at " + m.Target,
				Why: "the host's own /proc and all that is hidden would be in it", Help: "name the directories that are needed"})
		}
	}
	for i := range b.r.Write { // behind the mounts, since who wraps makes writable what is mounted so
		if w := &b.r.Write[i]; w.Real == "/" {
			b.problems = append(b.problems, &spec.Problem{Field: field(w), On: w.At, Do: "make / writable",
				Why: "the host's own /proc, /sys and /dev lie in it", Help: "name the directories that are to be written"})
		}
	}
}
