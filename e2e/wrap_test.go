package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// wrapAnswer is the output of `sbx wrap --json`.
type wrapAnswer struct {
	Wrapped struct {
		Cmd  string
		Args []string
		Env  map[string]string
		Cwd  string
	}
	Audit struct {
		Kind, WrapperName, WrappedCmd string
		WrappedArgs                   []string
		Mounts                        []map[string]string
		Truncated                     bool
		NotHeld                       []struct{ Field, Reason string }
	}
	Error    struct{ Field, On, Reason, Help string }
	Problems []struct{ Field, On, Reason, Help string }
}

// invoked returns the invocation that runs argv in the box's workspace.
func (b *box) invoked(mounts []map[string]string, argv ...string) map[string]any {
	env := map[string]string{}
	for _, kv := range b.env {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	inv := map[string]any{"cmd": argv[0], "args": argv[1:], "env": env, "cwd": b.ws}
	if mounts != nil {
		inv["mounts"] = mounts
	}
	return inv
}

// wrap asks sbx for a wrapped invocation.
func (b *box) wrap(inv any, flags ...string) (a wrapAnswer, status int) {
	b.t.Helper()
	text, err := json.Marshal(inv)
	must(b.t, err)
	return b.wrapText(string(text), flags...)
}

func (b *box) wrapText(text string, flags ...string) (a wrapAnswer, status int) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, sbxPath, append([]string{"wrap", "--json"}, flags...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = b.ws, b.env, strings.NewReader(text)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	if err := json.Unmarshal(out.Bytes(), &a); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		b.t.Fatalf("wrap %q printed no one JSON line: %v\n%s\n%s", flags, err, out.Bytes(), errs.Bytes())
	}
	return a, cmd.ProcessState.ExitCode()
}

// start runs a wrapped invocation.
func (a *wrapAnswer) start(b *box, more ...string) result {
	b.t.Helper()
	if a.Error.Reason != "" {
		b.t.Fatalf("it was not wrapped: %+v", a.Problems)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, a.Wrapped.Cmd, a.Wrapped.Args...)
	cmd.Dir, cmd.WaitDelay = a.Wrapped.Cwd, 2*time.Second
	for name, value := range a.Wrapped.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, more...)
	os.Remove(b.rec)
	return b.finish(cmd)
}

// refusals is a script of attempts that prints a line with the result of each.
const refusals = `
try() { name=$1; shift; if ( "$@" ) >/dev/null 2>&1; then echo "$name ok"; else echo "$name refused"; fi; }
try read-outside cat $OUT/file
try write-outside touch $OUT/new
try read-secret cat $HOME/.netrc
try read-key cat $HOME/.ssh/id
try write-workspace touch new
try change-config sh -c 'echo x >> .git/config'
try plant-hook sh -c 'echo x > .git/hooks/pre-commit'
try move-git sh -c 'mv .git g && mkdir .git'
try read-tmp cat $SHARED
try write-tmp touch /tmp/x
try connect $CONNECT
try sysctl sh -c 'read x < /proc/sys/kernel/core_pattern && echo "$x" > /proc/sys/kernel/core_pattern'
try signal kill -0 $SELF
try hidden grep hidden $OUT/hidden
try mount-read cat /data/file
try mount-write touch /data/new
echo the end
`

// outerTool is another sandboxing tool, ready to be used.
type outerTool struct {
	name  string
	image bool     // its files are an image's
	env   []string // by which it is found
	line  []string // the beginning of a runtime's line
}

// outerTools are the names that ready knows.
var outerTools = []string{"sbx", "bwrap", "nsjail", "docker", "podman", "runsc", "oci", "crun"}

// found returns the names, without nsjail's if it is not installed, because no distribution
// packages it: TestOuterTools reports that.
func found(names []string) []string {
	if _, err := exec.LookPath("nsjail"); err == nil {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "nsjail" })
}

// ready returns a tool, or skips with the reason.
func ready(t *testing.T, name string) outerTool {
	t.Helper()
	tool := outerTool{name: name}
	switch name {
	case "bwrap":
		bwrapReady(t)
	case "nsjail":
		nsjailReady(t)
	case "oci":
		tool.line = runcReady(t)
	case "crun":
		tool.line = crunReady(t)
	case "docker":
		tool.image, tool.env = true, []string{dockerHost(t)}
	case "runsc":
		tool.image, tool.env = true, []string{dockerRunsc(t)}
	case "podman":
		tool.image, tool.env = true, podmanReady(t)
		if me, err := user.Current(); err == nil { // podman looks up subordinate ids by this name
			tool.env = append(slices.Clone(tool.env), "USER="+me.Username)
		}
	}
	return tool
}

// flags returns the flags that name the tool.
func (o outerTool) flags(flag string) []string {
	if o.line != nil {
		bundles++
		return []string{flag, "oci", "--bundle", filepath.Join(o.line[len(o.line)-1], "bundle"+strconv.Itoa(bundles))}
	}
	if o.image {
		return []string{flag, o.name, "--image", sandboxImage}
	}
	return []string{flag, o.name}
}

// bundles counts the bundles of the run, each of which has a directory.
var bundles int

// probed returns a box with everything that refusals tries, and the script.
func probed(t *testing.T, tool outerTool) (b *box, argv []string) {
	b = newBoxElsewhere(t)
	b.env = append(b.env, tool.env...)
	b.write(b.out+"/file", "outside")
	b.write(b.out+"/hidden", "hidden")
	b.write(b.base+"/data/file", "data")
	b.write(b.home+"/.netrc", "secret")
	b.write(b.home+"/.ssh/id", "secret")
	b.restoreGit()
	shared := filepath.Join("/tmp", uniqueName(t))
	must(t, os.WriteFile(shared, []byte("tmp"), 0o644))
	t.Cleanup(func() { os.Remove(shared) })
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	vars := "OUT=" + b.out + "\nHOME=" + b.home + "\nSHARED=" + shared + "\nSELF=" + strconv.Itoa(os.Getpid()) +
		"\nCONNECT='busybox nc -w 5 127.0.0.1 " + port + "'\n"
	return b, []string{"/bin/sh", "-c", vars + refusals}
}

// restoreGit restores the workspace's repository.
func (b *box) restoreGit() {
	os.RemoveAll(b.ws + "/.git")
	os.RemoveAll(b.ws + "/g")
	os.Remove(b.out + "/new") // written outside, where that is allowed
	b.write(b.ws+"/.git/config", "[core]\n")
	b.write(b.ws+"/.git/hooks/x", "")
	b.write(b.ws+"/.git/HEAD", "ref: refs/heads/main\n")
}

// told returns what the script printed about each attempt. The script must have come to its end.
func told(t *testing.T, r result) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, line := range strings.Split(r.out, "\n") {
		if name, how, ok := strings.Cut(line, " "); ok {
			all[name] = how
		}
	}
	if all["the"] != "end" {
		t.Fatalf("the script did not come to its end: %d\n%s\n%s", r.code, r.out, r.err)
	}
	return all
}

// promise is a spec, and which of the attempts it allows. All others are denied.
type promise struct {
	spec string
	ok   []string
}

// promises returns the specs that every tool enforces alike.
func (b *box) promises() []promise {
	return []promise{
		{"", []string{"read-outside", "write-workspace", "write-tmp", "hidden", "mount-read"}},
		{`{"access_mode": "read-only", "filesystem": {"hide": ["` + b.out + `/hidden"]}}`, []string{"read-outside", "write-tmp", "mount-read"}},
		{`{"access_mode": "workspace-write", "filesystem": {"write": ["` + b.out + `", ".git"], "hide": ["` + b.out + `/hidden"]}}`,
			[]string{"read-outside", "write-outside", "write-workspace", "write-tmp", "mount-read", "change-config", "plant-hook", "move-git"}},
		{`{"access_mode": "workspace-write", "filesystem": {"read": ["@system", "` + b.base + `/data"]}}`, []string{"write-workspace", "write-tmp", "mount-read"}},
		{`{"access_mode": "workspace-write", "network": {"mode": "host"}}`, []string{"read-outside", "write-workspace", "write-tmp", "hidden", "mount-read", "connect"}},
	}
}

// hold compares the script's results with what the spec promises.
func (p *promise) hold(t *testing.T, b *box, tool outerTool, got map[string]string) {
	t.Helper()
	for name, how := range got {
		want := "refused"
		if slices.Contains(p.ok, name) {
			want = "ok"
		}
		if (b.private() || tool.image) && !strings.Contains(p.spec, `"write"`) && (name == "read-outside" || name == "hidden") {
			want = "refused" // lies in a private directory, or is not part of the image
		}
		if tool.name == "nsjail" && name == "write-outside" && !slices.Contains(p.ok, name) {
			// The directory of a hidden path is rebuilt, and nsjail does not seal it: writes there
			// do not reach the host.
			if _, err := os.Lstat(b.out + "/new"); err == nil {
				t.Errorf("%s: it reached the host", p.spec)
			}
			continue
		}
		if name != "the" && how != want {
			t.Errorf("%s: %s: %s is %s, want %s", tool.name, p.spec, name, how, want)
		}
	}
}

// TestWrappedRefusals runs the attempts unsandboxed, in sbx exec, and wrapped for each tool: all
// deny and allow the same.
func TestWrappedRefusals(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "busybox")
	for _, name := range found(outerTools) {
		t.Run(name, func(t *testing.T) {
			tool := ready(t, name)
			b, argv := probed(t, tool)
			mounts := []map[string]string{{"kind": "dir", "label": "data", "hostPath": b.base + "/data", "guestPath": "/data", "mode": "ro"}}
			control := told(t, b.plain(argv...))
			for _, name := range []string{"read-outside", "read-secret", "read-key", "read-tmp", "connect", "signal", "hidden", "write-outside", "plant-hook", "change-config", "move-git"} {
				if control[name] != "ok" {
					t.Errorf("control: %s is %s without a sandbox", name, control[name])
				}
			}
			for _, p := range b.promises() {
				if name == "runsc" && slices.Contains(p.ok, "connect") {
					continue // the engine of the tests gives gVisor no network
				}
				b.restoreGit()
				flags := tool.flags("--wrapper")
				if p.spec != "" {
					flags = append(flags, "--spec-json", p.spec)
				}
				a, status := b.wrap(b.invoked(mounts, argv...), flags...)
				if status != 0 {
					t.Fatalf("%s: status %d: %+v", p.spec, status, a.Problems)
				}
				if tool.line != nil { // the runtime itself has options of its own here
					a.Wrapped.Cmd, a.Wrapped.Args = tool.line[0], append(slices.Clone(tool.line[1:]), a.Wrapped.Args...)
				}
				p.hold(t, b, tool, told(t, a.start(b)))
			}
		})
	}
}
