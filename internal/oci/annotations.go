package oci

import (
	"slices"
	"strings"

	"sbx/spec"
)

// ofCrun is the prefix of the annotations that are orders to crun (crun(1), "Extensions"). One of them replaces
// the container's seccomp filter by another (run.oci.seccomp_bpf_data), one the program that crun executes
// (run.oci.handler).
const ofCrun = "run.oci."

// known are the orders to crun that leave what sbx-oci enforces as it is.
var known = []string{"delegate-cgroup", "keep_original_groups", "mount_context_type", "pidfd_receiver", "seccomp_fail_unknown_syscall", "systemd.subgroup", "timens_offset"}

// orders are the prefixes of other annotations by which a runtime starts something else, or by which
// systemd raises limits or opens devices.
var orders = []string{"krun.", "module.wasm.image/", "org.systemd.property.CPU", "org.systemd.property.Device", "org.systemd.property.Memory", "org.systemd.property.Tasks"}

// ordered rejects annotations that are orders to the runtime, if they undo or may undo what the spec
// enforces.
func (c *Container) ordered() error {
	for key := range c.Annotations {
		order, is := strings.CutPrefix(key, ofCrun)
		if is && !slices.Contains(known, order) || slices.ContainsFunc(orders, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			return &spec.Problem{On: "annotations", Do: "hold the spec in the container", Why: spec.Word(key) + " is an order to the runtime, which may undo it", Help: "leave the annotation out"}
		}
	}
	return nil
}
