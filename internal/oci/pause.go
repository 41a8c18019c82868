package oci

import (
	"strings"

	"sbx/spec"
)

// pauseSpec replaces the specs for the pause container, which holds a Pod's namespaces and whose
// image has none of the directories that specs name. It keeps the Pod's network, which the Pod's
// containers share; a container without network gets an empty one of its own.
const pauseSpec = `{"access_mode": "read-only", "working_dir": "/", "network": {"mode": "host"}}`

// pauses reports whether c is a pause container. The annotation alone does not count, since any
// caller can set it: the bundle must also lie where only the engine puts its Pods.
func (c *Container) pauses() bool {
	return c.Annotations["io.kubernetes.cri.container-type"] == "sandbox" && strings.Contains(c.Bundle, "/io.containerd.runtime.v2.task/k8s.io/")
}

// documents returns the specs that apply to the container.
func (c *Container) documents(o *Options) ([]*spec.SandboxSpec, error) {
	docs, err := Documents(o, c.Annotations)
	if err != nil || len(docs) == 0 || !c.pauses() {
		return docs, err
	}
	d, err := spec.Decode("the spec of a pause container", []byte(pauseSpec))
	return []*spec.SandboxSpec{d}, err
}
