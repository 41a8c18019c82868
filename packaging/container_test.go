package packaging_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	docker "github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
)

var update = flag.Bool("update", false, "write container/seccomp.json anew")

// within is what sbx needs in a container beside Docker's own list, whose other
// conditions stay.
var within = []string{
	"clone", "unshare", // namespaces
	"mount", "mount_setattr", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "pivot_root", "umount2", "sethostname", // what is in them
	"pidfd_getfd", // ruling on connects
}

// TestContainersSeccomp holds container/seccomp.json to Docker's own list and those calls.
func TestContainersSeccomp(t *testing.T) {
	p := docker.DefaultProfile()
	p.Syscalls = append(p.Syscalls, &docker.Syscall{LinuxSyscall: specs.LinuxSyscall{Names: within, Action: specs.ActAllow}, Comment: "sbx inside a container"})
	want, err := json.MarshalIndent(p, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	const name = "container/seccomp.json"
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not Docker's list with what sbx needs: go test ./packaging -run Seccomp -update (%v)", name, err)
	}
}
