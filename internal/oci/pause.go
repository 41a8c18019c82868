package oci

import (
	"strings"

	"sbx/spec"
)

// pauseSpec holds for the container that keeps a Pod's namespaces, whose image has none of
// the directories that specs name. It has the Pod's network, which the Pod's containers get
// from it; those that are to have none get an empty one of their own.
const pauseSpec = `{"access_mode": "read-only", "working_dir": "/", "network": {"mode": "host"}}`

// pauses tells whether it is one. The engine says so in an annotation, which any caller can
// give a container, and by where its Pods lie, which is the engine's alone.
func (c *Container) pauses() bool {
	return c.Annotations["io.kubernetes.cri.container-type"] == "sandbox" && strings.Contains(c.Bundle, "/io.containerd.runtime.v2.task/k8s.io/")
}

// documents are those that hold for the container.
func (c *Container) documents(o *Options) ([]*spec.SandboxSpec, error) {
	docs, err := Documents(o, c.Annotations)
	if err != nil || len(docs) == 0 || !c.pauses() {
		return docs, err
	}
	d, err := spec.Decode("the spec of a pause container", []byte(pauseSpec))
	return []*spec.SandboxSpec{d}, err
}
