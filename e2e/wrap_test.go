package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// wrapAnswer is what `sbx wrap --json` prints.
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

// invoked is the invocation that runs argv in the box's workspace.
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

// refusals is a script of attempts, each of which tells on a line how it went.
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
try connect bash -c 'exec 3<>/dev/tcp/127.0.0.1/'$PORT
try sysctl sh -c 'read x < /proc/sys/kernel/core_pattern && echo "$x" > /proc/sys/kernel/core_pattern'
try signal kill -0 $SELF
try hidden grep hidden $OUT/hidden
try mount-read cat /data/file
try mount-write touch /data/new
echo the end
`

// probed is a box with all that refusals tries, and the script.
func probed(t *testing.T) (b *box, argv []string) {
	b = newBoxElsewhere(t)
	b.write(b.out+"/file", "outside")
	b.write(b.out+"/hidden", "hidden")
	b.write(b.base+"/data/file", "data")
	b.write(b.home+"/.netrc", "secret")
	b.write(b.home+"/.ssh/id", "secret")
	b.gitFolder()
	shared := filepath.Join("/tmp", uniqueName(t))
	must(t, os.WriteFile(shared, []byte("tmp"), 0o644))
	t.Cleanup(func() { os.Remove(shared) })
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	vars := "OUT=" + b.out + "\nHOME=" + b.home + "\nSHARED=" + shared + "\nPORT=" + port + "\nSELF=" + strconv.Itoa(os.Getpid()) + "\n"
	return b, []string{"bash", "-c", vars + refusals}
}

// gitFolder makes the workspace's repository as it was.
func (b *box) gitFolder() {
	os.RemoveAll(b.ws + "/.git")
	os.RemoveAll(b.ws + "/g")
	b.write(b.ws+"/.git/config", "[core]\n")
	b.write(b.ws+"/.git/hooks/x", "")
	b.write(b.ws+"/.git/HEAD", "ref: refs/heads/main\n")
}

// told is what the script said of each attempt. It must have come to its end.
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

// TestWrappedRefusals runs the attempts as they are, in sbx exec, and wrapped:
// what the one refuses the other refuses, what it allows works.
func TestWrappedRefusals(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "bash")
	for _, w := range []string{"sbx", "bwrap"} {
		t.Run(w, func(t *testing.T) {
			needPrograms(t, programsOf(w)...)
			b, argv := probed(t)
			mounts := []map[string]string{{"kind": "dir", "label": "data", "hostPath": b.base + "/data", "guestPath": "/data", "mode": "ro"}}
			control := told(t, b.plain(argv...))
			for _, name := range []string{"read-outside", "read-secret", "read-key", "read-tmp", "connect", "signal", "hidden", "write-outside", "plant-hook", "change-config", "move-git"} {
				if control[name] != "ok" {
					t.Errorf("control: %s is %s without a sandbox", name, control[name])
				}
			}
			for _, c := range []struct {
				spec string
				ok   []string
			}{
				{"", []string{"read-outside", "write-workspace", "write-tmp", "hidden", "mount-read"}},
				{`{"access_mode": "read-only", "filesystem": {"hide": ["` + b.out + `/hidden"]}}`, []string{"read-outside", "write-tmp", "mount-read"}},
				{`{"access_mode": "workspace-write", "filesystem": {"write": ["` + b.out + `", ".git"], "hide": ["` + b.out + `/hidden"]}}`,
					[]string{"read-outside", "write-outside", "write-workspace", "write-tmp", "mount-read", "change-config", "plant-hook", "move-git"}},
				{`{"access_mode": "workspace-write", "filesystem": {"read": ["@system", "` + b.base + `/data"]}}`, []string{"write-workspace", "write-tmp", "mount-read"}},
				{`{"access_mode": "workspace-write", "network": {"mode": "host"}}`, []string{"read-outside", "write-workspace", "write-tmp", "hidden", "mount-read", "connect"}},
			} {
				b.gitFolder()
				flags := []string{"--wrapper", w}
				if c.spec != "" {
					flags = append(flags, "--spec-json", c.spec)
				}
				a, status := b.wrap(b.invoked(mounts, argv...), flags...)
				if status != 0 {
					t.Fatalf("%s: status %d: %+v", c.spec, status, a.Problems)
				}
				got := told(t, a.start(b))
				for name, how := range got {
					want := "refused"
					if slices.Contains(c.ok, name) {
						want = "ok"
					}
					if b.private() && !strings.Contains(c.spec, `"write"`) && (name == "read-outside" || name == "hidden") {
						want = "refused" // the whole box lies in a private folder
					}
					if name != "the" && how != want {
						t.Errorf("%s: %s is %s, want %s", c.spec, name, how, want)
					}
				}
			}
		})
	}
}

// programsOf is what must be installed for a wrapper.
func programsOf(w string) []string {
	if w == "sbx" {
		return nil
	}
	return []string{w}
}
