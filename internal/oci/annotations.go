package oci

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// orders are the prefixes of annotations that are orders to a runtime, with those that leave what sbx-oci
// enforces as it is. Orders to crun (crun(1), "Extensions") replace the container's seccomp filter by
// another (run.oci.seccomp_bpf_data), or the program that crun executes (run.oci.handler). Others are properties of the
// container's unit of systemd, which raise limits or open devices.
var orders = map[string][]string{
	"run.oci.": {"delegate-cgroup", "keep_original_groups", "mount_context_type", "pidfd_receiver", "seccomp_fail_unknown_syscall", "systemd.subgroup", "timens_offset"},
	"org.systemd.property.": {"After", "Before", "CollectMode", "DefaultDependencies", "Description", "Documentation", "PartOf", "Requires", "TimeoutStopSec",
		"TimeoutStopUSec", "Wants"},
	"krun.":              nil,
	"module.wasm.image/": nil,
}

// ordered rejects what is an order to the runtime, and undoes or may undo what the spec enforces:
// annotations, and hooks that run unconfined in the container.
func (c *Container) ordered() error {
	refuse := func(on, why, help string) error {
		return &spec.Problem{On: on, Do: "hold the spec in the container", Why: why, Help: help}
	}
	for key := range c.Annotations {
		for prefix, harmless := range orders {
			if order, is := strings.CutPrefix(key, prefix); is && !slices.Contains(harmless, order) {
				return refuse("annotations", spec.Word(key)+" is an order to the runtime, which may undo it", "leave the annotation out")
			}
		}
	}
	if len(doc.Items(c.Config.Get("hooks").Get("startContainer"))) > 0 {
		return refuse("hooks.startContainer", "the runtime executes it in the container, before the command and unconfined", "have the command start it")
	}
	return nil
}
