// Package packaging_test tries what others install sbx by.
package packaging_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

var programs = []string{"sbx", "sbx-egress", "sbx-broker", "sbx-dispatch", "sbx-oci", "sbx-init"}

// release writes a tar.gz as scripts/release.sh names and fills it, of programs
// that say their names, and returns its digest.
func release(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	archive := tar.NewWriter(zip)
	name := "sbx-0.1.0-linux-" + runtime.GOARCH
	for _, p := range programs {
		text := "#!/bin/sh\necho " + p + " \"$@\"\n"
		if err := archive.WriteHeader(&tar.Header{Name: name + "/" + p, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".tar.gz"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:])
}

func TestAReleaseIsInstalledByItsDigestAlone(t *testing.T) {
	for _, tool := range []string{"curl", "tar", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no " + tool)
		}
	}
	dir := t.TempDir()
	digest := release(t, dir)
	other := strings.Repeat("0", 64)
	for _, c := range []struct{ name, version, url, sha256, want string }{
		{"its digest", "0.1.0", "file://" + dir, digest, ""},
		{"one of two digests", "0.1.0", "file://" + dir, other + " " + digest, ""},
		{"another digest", "0.1.0", "file://" + dir, other, "is " + digest + ", which sha256 does not list"},
		{"a part of its digest", "0.1.0", "file://" + dir, digest[:63], "which sha256 does not list"},
		{"no digest", "0.1.0", "file://" + dir, "", "sha256: missing"},
		{"no version", "", "file://" + dir, digest, "version: missing"},
		{"another version", "0.2.0", "file://" + dir, digest, "cannot get file://" + dir + "/sbx-0.2.0-linux-"},
		{"no URL", "0.1.0", "", digest, "url: missing"},
		{"without TLS", "0.1.0", "http://127.0.0.1:1", digest, "cannot get http://127.0.0.1:1/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "bin")
			cmd := exec.Command("devcontainer/src/sbx/install.sh")
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "BINDIR=" + to,
				"VERSION=" + c.version, "URL=" + c.url, "SHA256=" + c.sha256}
			out, err := cmd.CombinedOutput()
			if c.want != "" {
				if err == nil || !strings.Contains(string(out), c.want) {
					t.Errorf("%v, without %q:\n%s", err, c.want, out)
				}
				if _, err := os.Stat(to); err == nil {
					t.Error("something was installed")
				}
				return
			}
			if err != nil || string(out) != "sbx version\n" {
				t.Fatalf("%v:\n%s", err, out)
			}
			for _, p := range programs {
				if said, err := exec.Command(filepath.Join(to, p)).Output(); err != nil || strings.TrimSpace(string(said)) != p {
					t.Errorf("%s: %v, %q", p, err, said)
				}
			}
		})
	}
}

// action is the part of action.yml that the tests look at.
type action struct {
	Inputs map[string]struct {
		Required bool
		Default  string
	}
	Runs struct {
		Using string
		Steps []struct {
			Shell, Run string
			Env        map[string]string
		}
	}
}

func readAction(t *testing.T) (a action) {
	t.Helper()
	if err := yaml.UnmarshalWithOptions(text(t, "action/action.yml"), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestTheActionsStepsPutSbxIntoPath runs them as a runner of GitHub's does. The
// profile is left out: it would be the host's.
func TestTheActionsStepsPutSbxIntoPath(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "tar", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no " + tool)
		}
	}
	dir := t.TempDir()
	digest := release(t, dir)
	at, err := filepath.Abs("action")
	if err != nil {
		t.Fatal(err)
	}
	for name, sha256 := range map[string]string{"its digest": digest, "another digest": strings.Repeat("0", 64)} {
		t.Run(name, func(t *testing.T) {
			inputs := map[string]string{"version": "0.1.0", "url": "file://" + dir, "sha256": sha256, "apparmor": "false"}
			temp, workspace, path := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "path")
			var failed error
			for i, step := range readAction(t).Runs.Steps {
				script := filepath.Join(t.TempDir(), "step.sh")
				if err := os.WriteFile(script, []byte(step.Run), 0o600); err != nil {
					t.Fatal(err)
				}
				if step.Shell != "bash" {
					t.Fatalf("step %d: shell %q", i, step.Shell)
				}
				cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", script)
				cmd.Dir = workspace
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + temp, "CI=true", "GITHUB_ACTIONS=true", "GITHUB_ACTION_PATH=" + at,
					"GITHUB_PATH=" + path, "GITHUB_OUTPUT=" + path + ".output", "GITHUB_WORKSPACE=" + workspace, "RUNNER_TEMP=" + temp}
				for variable, value := range step.Env {
					for input, given := range inputs {
						value = strings.ReplaceAll(value, "${{ inputs."+input+" }}", given)
					}
					cmd.Env = append(cmd.Env, variable+"="+value)
				}
				out, err := cmd.CombinedOutput()
				if failed = err; err != nil {
					t.Logf("step %d: %v\n%s", i, err, out)
					break
				}
			}
			lines, _ := os.ReadFile(path)
			if left, err := os.ReadDir(workspace); err != nil || len(left) > 0 {
				t.Errorf("in the workspace: %v, %v", left, err)
			}
			if sha256 != digest {
				if failed == nil || len(lines) > 0 {
					t.Errorf("%v, and PATH gets %q", failed, lines)
				}
				return
			}
			if failed != nil || strings.Count(string(lines), "\n") != 1 {
				t.Fatalf("%v, and PATH gets %q", failed, lines)
			}
			said, err := exec.Command(filepath.Join(strings.TrimSpace(string(lines)), "sbx"), "exec").Output()
			if err != nil || string(said) != "sbx exec\n" {
				t.Errorf("%v, %q", err, said)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) != 1 {
				t.Errorf("in RUNNER_TEMP: %v, %v", left, err)
			}
		})
	}
}

// TestAppArmorReadsTheProfile has its parser compile the profile for the path that
// the packages install sbx at.
func TestAppArmorReadsTheProfile(t *testing.T) {
	if _, err := exec.LookPath("apparmor_parser"); err != nil {
		t.Skip("no apparmor_parser")
	}
	if _, err := os.Stat("/etc/apparmor.d/abi/4.0"); err != nil {
		t.Skip("AppArmor here is older than 4.0")
	}
	release := string(text(t, "../scripts/release.sh"))
	const from, to = "/usr/local/bin/sbx", "/usr/bin/sbx"
	if !strings.Contains(release, "'s|"+from+"|"+to+"|' cmd/sbx/apparmor.profile") || !strings.Contains(string(text(t, "nfpm.yaml")), "dst: "+to+",") {
		t.Errorf("the packages' profile and their sbx do not both lie at %s", to)
	}
	profile := strings.ReplaceAll(string(text(t, "../cmd/sbx/apparmor.profile")), from, to)
	for _, c := range []struct {
		name, text string
		good       bool
	}{{"as it is", profile, true}, {"with a rule that is none", strings.Replace(profile, "userns,", "usernss,", 1), false}} {
		cmd := exec.Command("apparmor_parser", "--skip-kernel-load", "--skip-cache")
		cmd.Stdin = strings.NewReader(c.text)
		if out, err := cmd.CombinedOutput(); (err == nil) != c.good {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
}

// TestActionAndFeatureAskTheSame holds both to the variables of the one script.
func TestActionAndFeatureAskTheSame(t *testing.T) {
	action := readAction(t)
	var feature struct {
		ID      string
		Options map[string]struct{ Type, Default string }
	}
	if err := json.Unmarshal(text(t, "devcontainer/src/sbx/devcontainer-feature.json"), &feature); err != nil {
		t.Fatal(err)
	}
	if action.Runs.Using != "composite" || len(action.Runs.Steps) != 1 || feature.ID != "sbx" {
		t.Fatalf("%+v %+v", action.Runs, feature)
	}
	step := action.Runs.Steps[0]
	for _, name := range []string{"version", "url", "sha256"} {
		variable := strings.ToUpper(name)
		if !strings.Contains(string(text(t, "devcontainer/src/sbx/install.sh")), "${"+variable+":-}") {
			t.Errorf("the script does not ask for %s", variable)
		}
		if in := action.Inputs[name]; !in.Required || in.Default != "" || step.Env[variable] != "${{ inputs."+name+" }}" {
			t.Errorf("action: %s: %+v, %q", name, in, step.Env[variable])
		}
		if o, ok := feature.Options[name]; !ok || o.Type != "string" || o.Default != "" {
			t.Errorf("feature: %s: %+v", name, o)
		}
	}
	if len(feature.Options) != 3 || len(action.Inputs) != 4 {
		t.Errorf("%d options, %d inputs", len(feature.Options), len(action.Inputs))
	}
	if strings.Contains(step.Run, "${{") {
		t.Error("an input is pasted into the text of a script: it belongs into env")
	}
}

func text(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
