package wrap

import (
	"slices"
	"testing"

	"sbx/spec"
)

// What the documents open of secrets is told to a sandbox inside, those of other
// homes as well: it would say that they are hidden.
func TestParentTellsWhatIsOpened(t *testing.T) {
	read := []spec.Path{}
	for _, p := range []string{"/home/me/.ssh/known_hosts", "/home/other/.ssh", "/root/.aws", "/srv/.ssh", "/home/me/src"} {
		read = append(read, spec.Path{Abs: p, Real: p, Exists: true, IsDir: true, Field: "filesystem.read[0]"})
	}
	read = append(read, spec.Path{Abs: "/home/me/.kube", Real: "/home/me/.kube", Exists: true, IsDir: true}) // implied
	b := builder{h: &Host{Home: "/home/me"}, r: &spec.Resolved{Spec: &spec.SandboxSpec{}, Private: true, Read: read}}
	want := []string{"/home/me/.ssh/known_hosts", "/home/other/.ssh", "/root/.aws"}
	if got := b.parentOf().Opened; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
