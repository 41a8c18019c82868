package oci

import "testing"

// TestPauses: an annotation alone, which any caller of the engine can set, does not exempt a
// container from the policy.
func TestPauses(t *testing.T) {
	says := map[string]string{"io.kubernetes.cri.container-type": "sandbox"}
	for _, c := range []struct {
		bundle      string
		annotations map[string]string
		want        bool
	}{
		{"/run/containerd/io.containerd.runtime.v2.task/k8s.io/c1", says, true},
		{"/run/containerd/io.containerd.runtime.v2.task/k8s.io/c1", map[string]string{"io.kubernetes.cri.container-type": "container"}, false},
		{"/run/containerd/io.containerd.runtime.v2.task/moby/c1", says, false},
		{"/var/lib/containers/storage/c1", says, false},
		{"/run/containerd/io.containerd.runtime.v2.task/moby/k8s.io", says, false},
	} {
		if got := (&Container{Bundle: c.bundle, Annotations: c.annotations}).pauses(); got != c.want {
			t.Errorf("%s, %v: %v", c.bundle, c.annotations, got)
		}
	}
}
