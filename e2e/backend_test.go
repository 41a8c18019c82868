package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// backends are the values of --backend other than native.
var backends = []string{"bwrap", "nsjail", "docker", "podman", "runsc"}

// eachBackend runs a test with each tool that this host has.
func eachBackend(t *testing.T, f func(t *testing.T, b *box, tool outerTool), but ...string) {
	t.Helper()
	needSandbox(t)
	for _, name := range found(backends) {
		if slices.Contains(but, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			tool := ready(t, name)
			b := newBoxElsewhere(t)
			b.env = append(b.env, tool.env...)
			b.args = append(b.args, tool.flags("--backend")...)
			f(t, b, tool)
		})
	}
}

// fullRecord is the part of a record that these tests read.
type fullRecord struct {
	State       string
	Enforcement []struct{ Field, Status, By, Reason string }
	Backend     struct {
		Asked, Used, Image, Reason string
		Unseen                     []string
	}
	Exit struct {
		EndedBy string `json:"ended_by"`
	}
	CommandsUsed *int `json:"commands_used"`
	Artifacts    []struct {
		Path string
		Size int
	}
}

func (r *result) full() (f fullRecord) {
	r.t.Helper()
	text, err := json.Marshal(r.rec)
	must(r.t, err)
	must(r.t, json.Unmarshal(text, &f))
	return f
}

// line returns the record's line on a field.
func (r *result) line(field string) (status, by, reason string) {
	for _, e := range r.full().Enforcement {
		if e.Field == field {
			return e.Status, e.By, e.Reason
		}
	}
	return "", "", ""
}

// A spec is enforced by every tool, and the record says which mechanism enforces it and what could
// not be seen.
func TestBackendRefusals(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "busybox")
	for _, name := range found(backends) {
		t.Run(name, func(t *testing.T) {
			tool := ready(t, name)
			b, argv := probed(t, tool)
			b.args = append(b.args, tool.flags("--backend")...)
			for _, p := range b.promises() {
				if !strings.Contains(p.spec, `"write"`) && !slices.Contains(p.ok, "connect") || name == "runsc" && slices.Contains(p.ok, "connect") {
					continue // outer.TestBackendLine has the others: their lines are those of TestWrappedRefusals
				}
				b.restoreGit()
				r := b.run(p.spec, argv...)
				p.hold(t, b, tool, without(told(t, r), "mount-read")) // only for an invocation
				status, by, _ := r.line("access_mode")
				if status != "enforced" || by != name {
					t.Errorf("access_mode is %s by %s", status, by)
				}
				if status, by, _ := r.line("network"); status != "enforced" || by != name {
					t.Errorf("network is %s by %s", status, by)
				}
				whole := !isRoot() && slices.Contains([]string{"bwrap", "nsjail"}, name) && !strings.Contains(p.spec, `"host"`)
				if status, _, reason := r.line("side_doors"); whole != (status == "enforced") || !whole && reason == "" {
					t.Errorf("side_doors is %s: %s", status, reason)
				}
				back := r.full().Backend
				if back.Asked != name || back.Used != name || !slices.Contains(back.Unseen, "commands") || tool.image != (back.Image == sandboxImage) || tool.image != slices.Contains(back.Unseen, "usage") {
					t.Errorf("%+v", back)
				}
				if r.full().CommandsUsed != nil || r.code != 0 || r.full().Exit.EndedBy != "command" {
					t.Errorf("%d, %+v, commands_used %v", r.code, r.full().Exit, r.full().CommandsUsed)
				}
			}
		})
	}
}

func without(all map[string]string, name string) map[string]string {
	delete(all, name)
	return all
}

// The command has its own streams, environment, directory and exit status.
func TestBackendPassThrough(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *box, tool outerTool) {
		b.env = append(b.env, "KEPT=a b\nc", "MY_TOKEN=hunter2")
		r := b.runIn(b.ws, "in\n", `{"access_mode":"workspace-write"}`, "/bin/sh", "-c", `cat; echo err >&2; pwd; echo "$KEPT,$MY_TOKEN,$1"; exit 9`, "sh", "it's $odd")
		if r.code != 9 || r.out != "in\n"+b.ws+"\na b\nc,,it's $odd\n" || !strings.Contains(r.err, "err\n") {
			t.Errorf("%d %q %q", r.code, r.out, r.err)
		}
		if r = b.run(`{"access_mode":"workspace-write"}`, "/bin/sh", "-c", "kill -9 $$"); tool.name != "nsjail" && r.code != 137 { // there the command is pid 1
			t.Errorf("killed: %d", r.code)
		}
		if r = b.run(`{"access_mode":"workspace-write"}`, "no-such-program"); r.code != 127 {
			t.Errorf("not found: %d", r.code)
		}
		if strings.Contains(b.recordText(), "hunter2") {
			t.Error("the record has a secret")
		}
	})
}

func (b *box) recordText() string {
	text, _ := os.ReadFile(b.rec)
	return string(text)
}

// Limits are enforced by the tool or by sbx; one that cannot be is refused.
func TestBackendLimits(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *box, tool outerTool) {
		start := time.Now()
		r := b.run(`{"access_mode":"read-only","limits":{"timeout":"1s"}}`, "/bin/sh", "-c", "sleep 60")
		if r.code != 124 || r.full().Exit.EndedBy != "timeout" || time.Since(start) > 40*time.Second {
			t.Errorf("timeout: %d %+v", r.code, r.full().Exit)
		}
		r = b.run(`{"access_mode":"read-only","limits":{"open_files":64}}`, "/bin/sh", "-c", "ulimit -n")
		if r.code != 0 || r.out != "64\n" {
			t.Errorf("open_files: %d %q %s", r.code, r.out, r.err)
		}
		if tool.name == "bwrap" { // outer.TestBackendCannot has the others
			if r = b.run(`{"max_commands":5}`, "/bin/true"); r.code != 125 || !strings.Contains(r.err, "max_commands") || !strings.Contains(r.err, tool.name) {
				t.Errorf("max_commands: %d %s", r.code, r.err)
			}
			r = b.run(`{"access_mode":"read-only","max_commands":5,"best_effort":["max_commands"]}`, "/bin/true")
			if status, _, reason := r.line("max_commands"); r.code != 0 || status != "unavailable" || !strings.Contains(reason, tool.name) {
				t.Errorf("best effort: %d %s %s", r.code, status, reason)
			}
		}
		if !isRoot() { // without control groups
			return
		}
		const held = "dd if=/dev/zero bs=100000000 count=1 2>/dev/null | wc -c" // a buffer of that many bytes
		if r = b.run(`{"access_mode":"read-only"}`, "/bin/sh", "-c", held); !strings.Contains(r.out, "100000000") {
			t.Errorf("memory: the control: %d %q %s", r.code, r.out, r.err)
		}
		if r = b.run(`{"access_mode":"read-only","limits":{"memory":"48MiB"}}`, "/bin/sh", "-c", held); strings.Contains(r.out, "100000000") {
			t.Errorf("memory: %d %q", r.code, r.out)
		}
	})
}

// The job layout is the same with every tool.
func TestBackendJob(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *box, _ outerTool) {
		b.write(b.base+"/in/a", "b\na\n")
		must(t, os.Mkdir(b.base+"/job", 0o755))
		b.args = append(b.args, "--input", b.base+"/in", "--output", b.base+"/job")
		b.env = append(b.env, "MY_NAME=x")
		r := b.run("", "/bin/sh", "-c", "pwd; sort /input/a > /output/sorted; echo x > here && ls; touch /input/no || echo kept; ls "+b.ws+" 2>/dev/null; echo [$MY_NAME]")
		if r.code != 0 || r.out != "/work\nhere\nkept\n[]\n" {
			t.Errorf("%d %q %s", r.code, r.out, r.err)
		}
		if text, _ := os.ReadFile(b.base + "/job/sorted"); string(text) != "a\nb\n" {
			t.Errorf("the output is %q", text)
		}
		if len(r.full().Artifacts) != 1 || r.full().Artifacts[0].Path != "sorted" || r.full().Artifacts[0].Size != 4 {
			t.Errorf("%+v", r.full().Artifacts)
		}
	})
}

// Nothing outlives sbx, whatever ends it: no process, no container.
func TestBackendEnds(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *box, tool outerTool) {
		var left string
		defer func() { t.Log("containers: " + left) }()
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			marker := b.ws + "/alive"
			os.Remove(marker)
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			cmd := b.command(ctx, `{"access_mode":"workspace-write"}`, "/bin/sh", "-c", "while :; do echo x >> alive; sleep 0.1 2>/dev/null || sleep 1; done")
			cmd.Dir = b.ws
			must(t, cmd.Start())
			eventually(t, "the command runs", func() bool { return size(marker) > 0 })
			must(t, cmd.Process.Signal(signal))
			_ = cmd.Wait()
			cancel()
			still := func() bool {
				was := size(marker)
				time.Sleep(1500 * time.Millisecond)
				return size(marker) != was
			}
			for try := 0; still(); try++ {
				if try == 8 {
					t.Errorf("the command runs on after %v", signal)
					break
				}
			}
			if tool.image {
				within(t, limit, "no container is left", func() bool { left = tool.containers(t); return left == "" })
			}
		}
	})
}

// An engine creates the container of a client that is gone, if that had asked before: sbx has it
// removed until the engine says that it was. A command that ends by itself costs no such call.
func TestBackendRemovesWhatComesLate(t *testing.T) {
	needSandbox(t)
	for _, signal := range []syscall.Signal{0, syscall.SIGTERM, syscall.SIGKILL} {
		b := newBoxElsewhere(t)
		removals := b.base + "/removals"
		b.fakeTool("docker", `#!/bin/sh
case $1 in
version) echo 24.0.7;;
info) echo "limits: cgroupfs true true true";;
run) [ -e `+b.base+`/brief ] && exit 3; echo runs; exec sleep 60;;
rm) echo x >>`+removals+`
	case $(wc -l <`+removals+`) in
	1) echo "Error response from daemon: No such container: $3" >&2;;
	2) exit 1;;
	*) echo "$3";;
	esac;;
esac
`)
		b.args = []string{"--backend", "docker"}
		if signal == 0 {
			b.write(b.base+"/brief", "")
			if r := b.run(`{"access_mode":"read-only"}`, "true"); r.code != 3 || size(removals) != 0 {
				t.Errorf("%s: removed %d times", r, size(removals)/2)
			}
			continue
		}
		s := b.start(`{"access_mode":"read-only"}`, "true")
		s.expect("runs")
		must(t, s.cmd.Process.Signal(signal))
		s.wait()
		within(t, limit, "the engine has removed it", func() bool { return size(removals) >= 6 })
	}
}

// A signal to sbx reaches the command: it ends a command without a handler, and a command with one
// handles it.
func TestBackendSignals(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *box, _ outerTool) {
		for _, c := range []struct {
			script, out string
			code        int
		}{
			{"echo x > ready; exec sleep 60", "", 143},
			{"trap 'echo heeded; exit 7' TERM; echo x > ready; while :; do sleep 0.1 2>/dev/null || sleep 1; done", "heeded\n", 7},
		} {
			ready := b.ws + "/ready"
			os.Remove(ready)
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			cmd := b.command(ctx, `{"access_mode":"workspace-write"}`, "/bin/sh", "-c", c.script)
			cmd.Dir = b.ws
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			must(t, cmd.Start())
			eventually(t, "the command runs", func() bool { return size(ready) > 0 })
			time.Sleep(200 * time.Millisecond) // for the exec of sleep
			must(t, cmd.Process.Signal(syscall.SIGTERM))
			start := time.Now()
			_ = cmd.Wait()
			cancel()
			if code := cmd.ProcessState.ExitCode(); code != c.code || out.String() != c.out || time.Since(start) > 40*time.Second {
				t.Errorf("%q: %d %q %q", c.script, code, out.String(), errs.String())
			}
		}
	})
}

// containers returns the containers of sbx's that the engine has, each with its status.
func (o outerTool) containers(t *testing.T) string {
	t.Helper()
	program := o.name
	if program == "runsc" {
		program = "docker"
	}
	out, err := outerRun(o.env, program, "ps", "--all", "--filter", "name=sbx-", "--format", "{{.Names}} {{.Status}}")
	must(t, err)
	return out
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// A tool that is not available is an error, or sbx does its work if the spec accepts that.
func TestBackendMissing(t *testing.T) {
	needSandbox(t)
	for _, c := range []struct{ name, script, why string }{
		{"bwrap", "", "not on PATH"},
		{"bwrap", "echo bubblewrap 0.3.0", "0.8.0"},
		{"docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1", "Cannot connect"},
		{"docker", `[ "$1" = version ] && echo 19.3 || exit 1`, "20.10"},
		{"docker", `[ "$1" = version ] && echo 24.0.7 || exit 1`, "no image"},
		{"runsc", `echo '{"runc":{}}'`, "no runtime"},
		{"podman", "exit 1", "does not answer"},
	} {
		b := newBoxElsewhere(t)
		bin := b.base + "/bin"
		must(t, os.Mkdir(bin, 0o755))
		program := c.name
		if program == "runsc" {
			program = "docker"
		}
		if c.script != "" {
			b.write(bin+"/"+program, "#!/bin/sh\n"+c.script+"\n")
			must(t, os.Chmod(bin+"/"+program, 0o755))
		}
		for _, tool := range []string{"sh", "true", "touch"} {
			path, err := exec.LookPath(tool)
			must(t, err)
			must(t, os.Symlink(path, bin+"/"+tool))
		}
		b.env = append([]string{"PATH=" + bin}, b.env[1:]...)
		b.args = []string{"--backend", c.name}
		r := b.run(`{"access_mode":"workspace-write"}`, "touch", "ran")
		if r.code != 125 || !strings.Contains(r.err, c.why) || size(b.ws+"/ran") != 0 || r.full().State != "refused" {
			t.Errorf("%+v: %d %s", c, r.code, r.err)
		}
		r = b.run(`{"access_mode":"workspace-write","require_available":false}`, "/bin/sh", "-c", "echo y > ran; echo z > "+b.out+"/no")
		status, by, _ := r.line("access_mode")
		if size(b.ws+"/ran") != 2 || size(b.out+"/no") != 0 || status != "enforced" || by == c.name ||
			r.full().Backend.Asked != c.name || r.full().Backend.Used != "native" || !strings.Contains(r.full().Backend.Reason, c.why) || !strings.Contains(r.err, "sbx itself") {
			t.Errorf("%+v: %d %s %+v %s by %s", c, r.code, r.err, r.full().Backend, status, by)
		}
	}
}

// fakeTool puts a script before the tool of that name on PATH.
func (b *box) fakeTool(name, script string) {
	b.t.Helper()
	must(b.t, os.Chmod(b.write("bin/"+name, script), 0o755))
	b.env = append([]string{"PATH=" + b.base + "/bin:/usr/bin:/bin"}, b.env[1:]...)
}

// If sbx replaces a tool, it launches once, by its own steps.
func TestBackendGivesWayWhole(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.fakeTool("bwrap", "#!/bin/sh\necho bubblewrap 0.3.0\n")
	children := map[string]int{}
	for _, name := range []string{"native", "bwrap"} {
		b.args = []string{"--backend", name}
		s := b.start(`{"access_mode":"workspace-write","require_available":false}`, "sh", "-c", "echo runs; exec sleep 60")
		s.expect("runs")
		children[name] = len(childrenOf(t, s.cmd.Process.Pid))
		must(t, s.cmd.Process.Signal(syscall.SIGTERM))
		s.wait()
		if gaveWay := strings.Contains(b.recordText(), `"used": "native"`); gaveWay != (name == "bwrap") {
			t.Errorf("%s: it gave way: %v", name, gaveWay)
		}
	}
	if children["bwrap"] != children["native"] || children["native"] == 0 {
		t.Errorf("children: %v", children)
	}
}

// An engine that accepts limits and drops them, as Docker's does without root and without control
// groups, is not reported to enforce them.
func TestBackendDroppedLimits(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.fakeTool("docker", "#!/bin/sh\ncase $1 in version) echo 24.0.7;; info) echo WARNING: odd >&2; echo \"limits: $DOCKER_SAYS\";; run) echo ran;; esac\n")
	b.args = []string{"--backend", "docker"}
	env := b.env
	all := []string{"limits.memory", "limits.cpus", "limits.pids"}
	for said, drops := range map[string][]string{"none false false false": all, "none true true true": all, "": all, "cgroupfs true true true": nil, "systemd true false true": {"limits.cpus"}} {
		b.env = append(slices.Clone(env), "DOCKER_SAYS="+said)
		const limits = `{"access_mode":"read-only","limits":{"memory":"64MiB","cpus":0.5,"pids":16}`
		r := b.run(limits+"}", "true")
		for _, f := range all {
			if (r.code == 125 && strings.Contains(r.err, f)) != slices.Contains(drops, f) {
				t.Errorf("%q: %s: %d %s", said, f, r.code, r.err)
			}
		}
		r = b.run(limits+`,"best_effort":["limits"]}`, "true")
		for _, f := range all {
			want := map[bool]string{true: "unavailable", false: "enforced"}[slices.Contains(drops, f)]
			if status, _, _ := r.line(f); status != want || r.out != "ran\n" {
				t.Errorf("%q: %s is %s: %s", said, f, status, r)
			}
		}
	}
}

// An impossible command line is refused before anything runs.
func TestBackendUsage(t *testing.T) {
	b := newBox(t)
	for _, flags := range [][]string{
		{"--backend", "lxc"}, {"--backend", "none"}, {"--image", "x"}, {"--backend", "bwrap", "--image", "x"},
		{"--backend", "docker", "--counter", "ptrace"}, {"--backend", "docker", "--keep-fd", "5"}, {"--backend", "bwrap", "--violations", "on"},
	} {
		b.args = flags
		if r := b.run(`{}`, "true"); r.code != 2 {
			t.Errorf("%q: %d %s", flags, r.code, r.err)
		}
	}
}
