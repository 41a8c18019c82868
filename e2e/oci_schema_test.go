package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pointers reads the files of a schema whose references lack the slash of a JSON pointer.
type pointers struct{}

func (pointers) Load(url string) (any, error) {
	b, err := os.ReadFile(strings.TrimPrefix(url, "file://"))
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(bytes.ReplaceAll(b, []byte("#definitions/"), []byte("#/definitions/"))))
}

// runtimeSchema returns runtime-spec's own schema of a config.json, from its module.
func runtimeSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/opencontainers/runtime-spec")
	cmd.Dir = moduleDir
	dir, err := cmd.Output()
	must(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4) // which only the first of its files says
	c.UseLoader(pointers{})
	s, err := c.Compile(filepath.Join(strings.TrimSpace(string(dir)), "schema/config-schema.json"))
	must(t, err)
	return s
}

// TestOCIEditsAreValid checks each edited config.json by runtime-spec's schema.
func TestOCIEditsAreValid(t *testing.T) {
	schema := runtimeSchema(t)
	valid := func(file string, edit func(map[string]any)) error {
		b, err := os.ReadFile(file)
		must(t, err)
		var c map[string]any
		must(t, json.Unmarshal(b, &c))
		if edit != nil {
			edit(c)
		}
		return schema.Validate(c)
	}
	ociOn(t, func(t *testing.T, n *ociNode) {
		for _, spec := range []string{
			ociSpec, `{"access_mode": "danger-full-access"}`, `{"access_mode": "read-only", "working_dir": "/work"}`, `{"network": {"mode": "none"}}`,
			`{"limits": {"pids": 9, "memory": "64MiB", "cpus": 0.5, "open_files": 64}, "best_effort": ["limits"]}`,
			`{"filesystem": {"hide": ["/etc/shadow", "/root"], "write": ["/opt"]}, "environment": {"set": {"A": "b"}}}`,
			`{"filesystem": {"read": ["@system", "/opt"], "write": ["/work"]}}`,
		} {
			n.allow(spec)
			bundle := ociBundle(t, []string{"sleep", "100"}, nil)
			if got := ociRun(t, bundle, n.under("create", "--bundle", bundle, "sbx-e2e-schema")); got.status != 0 {
				if strings.Contains(got.err, "limits") {
					continue // crun makes no control groups here
				}
				t.Errorf("%s: %+v", spec, got)
				continue
			}
			files, err := filepath.Glob(n.state + "/sbx/made/*/config.json")
			must(t, err)
			if len(files) != 1 {
				t.Fatalf("%s: %q", spec, files)
			}
			if err := valid(files[0], nil); err != nil {
				t.Errorf("%s: %v", spec, err)
			}
			if valid(files[0], func(c map[string]any) { c["mounts"] = "none" }) == nil {
				t.Error("the control is valid")
			}
			ociRun(t, bundle, n.under("delete", "--force", "sbx-e2e-schema"))
		}
		n.clean()
	})
}
