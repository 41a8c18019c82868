package oci

import (
	"strings"

	"sbx/audit"
)

// told lists the annotations in which engines describe a container.
var told = []struct {
	key  string
	into func(*audit.Container) *string
}{
	{"io.kubernetes.cri.container-name", func(c *audit.Container) *string { return &c.Name }},
	{"io.kubernetes.cri.image-name", func(c *audit.Container) *string { return &c.Image }},
	{"io.kubernetes.cri.sandbox-name", func(c *audit.Container) *string { return &c.Pod }},
	{"io.kubernetes.cri.sandbox-namespace", func(c *audit.Container) *string { return &c.PodNamespace }},
	{"io.kubernetes.container.name", func(c *audit.Container) *string { return &c.Name }},
	{"io.kubernetes.cri-o.ImageName", func(c *audit.Container) *string { return &c.Image }},
	{"io.kubernetes.cri-o.ImageRef", func(c *audit.Container) *string { return &c.ImageDigest }},
	{"io.kubernetes.pod.name", func(c *audit.Container) *string { return &c.Pod }},
	{"io.kubernetes.pod.namespace", func(c *audit.Container) *string { return &c.PodNamespace }},
}

// about returns the record's description of the container and its engine.
func (m *making) about() *audit.Container {
	c := &audit.Container{ID: m.t.ID, Runtime: m.Inner, Bundle: m.t.Bundle}
	for _, row := range told {
		if v := m.t.Annotations[row.key]; v != "" {
			*row.into(c) = v
		}
	}
	_, task, ok := strings.Cut(m.t.Bundle, "/io.containerd.runtime.v2.task/")
	switch namespace, _, _ := strings.Cut(task, "/"); {
	case m.t.Annotations["io.container.manager"] == "libpod":
		c.Engine = "podman"
	case m.t.Annotations["io.container.manager"] == "cri-o":
		c.Engine = "cri-o"
	case ok && namespace == "moby":
		c.Engine, c.Namespace = "docker", namespace
	case ok:
		c.Engine, c.Namespace = "containerd", namespace
	}
	if _, digest, ok := strings.Cut(c.Image, "@"); ok && c.ImageDigest == "" {
		c.ImageDigest = digest
	}
	return c
}
