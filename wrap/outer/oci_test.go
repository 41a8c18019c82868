package outer

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"

	"sbx/spec"
	"sbx/wrap/world"
)

// bundles are the specs whose bundles are compared with files.
var bundles = []struct{ name, spec, on string }{
	{"workspace-write", `{"access_mode": "workspace-write"}`, "all root"},
	{"hide", `{"access_mode": "read-only", "filesystem": {"hide": ["/srv/data", "main.go"]}}`, "all"},
	{"read-list", `{"access_mode": "workspace-write", "filesystem": {"read": ["@system"]}}`, "all"},
	{"limits", `{"access_mode": "read-only", "network": {"mode": "host"}, "limits": {"memory": "64MiB", "cpus": 0.5, "pids": 16, "open_files": 64, "file_size": "1MiB"}}`, "root all"},
	{"timeout", `{"access_mode": "read-only", "limits": {"timeout": "90s"}}`, "all"},
	{"mounts", `{"access_mode": "workspace-write", "filesystem": {"mounts": [{"label": "in", "source": "/srv/data", "target": "/data", "mode": "ro"}, {"label": "t", "target": "/opt", "mode": "tmpfs"}]}}`, "all"},
}

// bundled returns the bundle of the invocation on the made-up machine.
func bundled(t *testing.T, on, doc string) (*Bundle, error) {
	t.Helper()
	a, err := asked(t, doc, world.Hosts[on], "dir /opt")
	if err != nil {
		return nil, err
	}
	a.Image, a.Host.Tools = "", nil
	return OCI(a, invocation(nil))
}

// syscallLists is the part of a configuration that package seccomp's tests check.
var syscallLists = regexp.MustCompile(`"syscalls": \[.*\]\}`)

// TestBundleGolden compares whole bundles with files, and with the types of the specification.
func TestBundleGolden(t *testing.T) {
	for _, c := range bundles {
		for _, on := range strings.Fields(c.on) {
			t.Run(c.name+"."+on, func(t *testing.T) {
				b, err := bundled(t, on, c.spec)
				got := "spec: " + c.spec + "\n"
				if err != nil {
					got += world.ProblemText(t, err)
				} else {
					d := json.NewDecoder(bytes.NewReader(b.Config))
					d.DisallowUnknownFields()
					var config specs.Spec
					if err := d.Decode(&config); err != nil {
						t.Fatalf("it is no config.json: %v", err)
					}
					if config.Linux.Seccomp == nil || !config.Process.NoNewPrivileges || !config.Root.Readonly {
						t.Error("it has no seccomp, may gain privileges or can be written")
					}
					got += string(syscallLists.ReplaceAll(b.Config, []byte(`"syscalls": […]}`)))
					for _, n := range b.Root {
						got += "rootfs" + n.Path + " " + n.Text + "\n"
					}
					got += string(b.Audit.AppendJSON(nil)) + "\n"
				}
				path := filepath.Join("../../testdata/bundles", c.name+"."+on+".txt")
				world.Golden(t, path, got)
			})
		}
	}
}

// A field that cannot be expressed to a runtime is refused by name, or listed.
func TestBundleLacks(t *testing.T) {
	for _, f := range []struct{ field, doc string }{
		{"max_commands", `"max_commands": 3`}, {"commands.allow", `"commands": {"allow": ["make"]}`}, {"limits.timeout", `"limits": {"timeout": "1m"}`}, {"limits.memory", `"limits": {"memory": "64MiB"}`},
	} {
		_, err := bundled(t, "all", `{"access_mode": "read-only", `+f.doc+`}`)
		ps, ok := err.(spec.Problems)
		if !ok || ps[0].Field != spec.Field(f.field) || !strings.Contains(ps[0].Do, "oci") {
			t.Errorf("%s: %v", f.field, err)
		}
		b, err := bundled(t, "all", `{"access_mode": "read-only", "best_effort": ["`+f.field+`"], `+f.doc+`}`)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b.Audit.AppendJSON(nil)), `"field": "`+f.field+`"`) {
			t.Errorf("%s is not listed: %+v", f.field, b.Audit.NotHeld)
		}
	}
}
