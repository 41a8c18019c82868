package wrap_test

import (
	"strings"
	"testing"
)

// A spec can open the devices of the table by name, and no others.
func TestDevicesByName(t *testing.T) {
	for path, opens := range map[string]bool{
		"/dev/kvm": true, "/dev/fuse": true, "/dev/dri/card0": true, "/dev/dri/renderD128": true, "/dev/nvidia0": true, "/dev/nvidiactl": true,
		"/dev/sda": false, "/dev/mem": false, "/dev/kvm2": false, "/dev/dri/other": false, "/dev/nvidia-caps/nvidia-cap1": false, "/dev/dri": false,
	} {
		facts := "device " + path
		if path == "/dev/dri" {
			facts = "device /dev/dri/card0"
		}
		for _, doc := range []string{`{"access_mode": "workspace-write", "filesystem": {"write": ["` + path + `"]}}`,
			`{"access_mode": "read-only", "filesystem": {"read": ["@system"], "write": ["` + path + `"]}}`} {
			m, err := linesFor(t, doc, facts)
			if (err == nil) != opens || opens && !strings.Contains(m["filesystem.write"].Reason, path+" of the host is open: ") {
				t.Errorf("%s: %v %+v", doc, err, m["filesystem.write"])
			}
		}
	}
}
