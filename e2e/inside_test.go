package e2e

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// insideTry runs in the workspace /work of a container. Without sbx both writes succeed, and the
// socket is bound. Under sbx with best_effort the write outside is denied whatever the container
// supports; hiding needs namespaces.
const insideTry = `cd /work; echo hidden >/output/secret; touch /output/without && echo control
sbx exec -- true 2>/work/refused; echo plain=$?
sbx exec --effective /tmp/record.json --best-effort '*' --hide /output/secret -- sh -c 'touch /work/in && echo inside; touch /output/out && echo outside; cat /output/secret; /probe try "peer|/work/socket"; echo'; echo status=$?
cat /work/refused; echo "record=$(tr -d '\n' </tmp/record.json)"; sbx doctor`

// insideServes matches the probe's result for a server that was bound and connected to; whether the
// server learns who its client is depends on the kernel.
var insideServes = regexp.MustCompile(`peer\|/work/socket\t(ok|ENOPROTOOPT)`)

// TestInsideContainers runs sbx in containers: if an engine withholds something, sbx uses a lower
// fallback level, and the record, the refusal and doctor say so and name what would open more.
func TestInsideContainers(t *testing.T) {
	const (
		bare = "landlock and seccomp alone"
		user = "user namespace"
	)
	seccomp, err := filepath.Abs("../packaging/container/seccomp.json")
	must(t, err)
	for _, c := range []struct {
		name, engine string
		flags        []string
		rung         string
		withheld     bool // pidfd_getfd
	}{
		{"by default", "docker", nil, bare, true},
		{"may trace", "docker", []string{"--cap-add", "SYS_PTRACE"}, bare, true},
		{"the list of calls", "docker", []string{"--security-opt", "seccomp=" + seccomp}, bare, false},
		{"as advised", "docker", []string{"--security-opt", "seccomp=" + seccomp, "--security-opt", "systempaths=unconfined"}, user, false},
		{"namespaces, and no copies", "docker", []string{"--cap-add", "SYS_ADMIN", "--security-opt", "systempaths=unconfined"}, user, true},
		{"by default", "podman", nil, bare, false},
		{"as advised", "podman", []string{"--security-opt", "unmask=/proc/*"}, user, false},
	} {
		t.Run(c.engine+" "+c.name, func(t *testing.T) {
			env := []string{}
			if c.engine == "docker" {
				env = append(env, dockerHost(t))
			} else {
				env = podmanReady(t)
				c.flags = append(c.flags, "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024")
			}
			for _, uid := range []string{"0", "65534"} {
				t.Run(uid, func(t *testing.T) {
					line := slices.Concat([]string{"run", "--rm", "--pull", "never", "--network", "none", "--user", uid, "--env", "HOME=/tmp/home", "--volume", probePath + ":/probe:ro"}, c.flags,
						[]string{sandboxImage, "sh", "-c", insideTry})
					out, err := outerRun(env, c.engine, line...)
					if err != nil {
						t.Fatal(err)
					}
					_, text, _ := strings.Cut(out, "record=")
					text, _, _ = strings.Cut(text, "\n")
					var r struct {
						Host        struct{ Rung, Container string }
						Enforcement []struct{ Field, Status, Reason string }
					}
					must(t, json.Unmarshal([]byte(text), &r))
					status, reason := map[string]string{}, map[string]string{}
					for _, l := range r.Enforcement {
						status[l.Field], reason[l.Field] = l.Status, l.Reason
					}
					if !strings.HasPrefix(out, "control\n") || !strings.Contains(out, "\ninside\n") || strings.Contains(out, "\noutside\n") {
						t.Errorf("what is written: %s", out)
					}
					if !insideServes.MatchString(out) {
						t.Errorf("a socket of the command's own: %s", out)
					}
					if r.Host.Container != c.engine || r.Host.Rung != c.rung {
						t.Errorf("the record's host: %+v", r.Host)
					}
					whole := c.rung != bare
					if holds := strings.Contains(out, "\nplain=0\n"); holds != whole || holds != !strings.Contains(out, "hint: start the container with") {
						t.Errorf("what is asked in full: %s", out)
					}
					if seen := strings.Contains(out, "\nhidden\n"); seen == whole || seen != (status["filesystem.hide"] == "unavailable") {
						t.Errorf("what is hidden: %s, %v", out, status)
					}
					if !whole && (status["access_mode"] != "degraded" || !strings.Contains(reason["access_mode"], "in a container of "+c.engine)) {
						t.Errorf("access_mode: %q, %q", status["access_mode"], reason["access_mode"])
					}
					if whole && c.withheld != strings.Contains(reason["protected_names"], "--cap-add SYS_PTRACE") {
						t.Errorf("protected_names: %q, %q", status["protected_names"], reason["protected_names"])
					}
					if strings.Contains(out, "privileged") || !strings.Contains(out, "of "+c.engine+": what it denies") || !whole != strings.Contains(out, "without namespaces nothing can be hidden") {
						t.Errorf("doctor: %s", out)
					}
				})
			}
		})
	}
}
