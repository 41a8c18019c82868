package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// killing is a run of programs that lie in its own box, which identifies all the processes that it
// starts.
type killing struct {
	*box
	*started
	sleep string // how many seconds the tool of a run that hangs sleeps
}

const killedTools = `{"version": 1, "ask_timeout": "40s", "tools": {
	"say": {"run": ["echo", "said"]},
	"hang": {"run": ["sh", "-c", "sleep %[1]s & sleep %[1]s"]},
	"long": {"run": ["sh", "-c", "head -c 8000000 /dev/zero | tr '\\0' x"]},
	"asked": {"run": ["echo", "said"]}},
	"rules": [{"id": "all", "tool": "*", "verdict": "allow"}, {"id": "person", "tool": "asked", "verdict": "ask"}]}`

// killable starts a run whose command makes a call of say, and another one of a tool if one is
// named, and then waits. With slow its broker begins late.
func killable(t *testing.T, tool string, slow bool) *killing {
	t.Helper()
	k := &killing{box: newBoxElsewhere(t), sleep: "7" + strconv.Itoa(os.Getpid()) + strconv.Itoa(int(time.Now().UnixNano()%1e6))}
	must(t, os.Mkdir(k.base+"/bin", 0o755))
	for _, name := range []string{"sbx", "sbx-broker"} {
		to := k.base + "/bin/" + name
		if text, err := os.ReadFile(filepath.Join(filepath.Dir(sbxPath), name)); err != nil || os.WriteFile(to, text, 0o755) != nil {
			t.Fatal(err)
		}
	}
	if slow {
		must(t, os.Rename(k.base+"/bin/sbx-broker", k.base+"/bin/late"))
		must(t, os.WriteFile(k.base+"/bin/sbx-broker", []byte("#!/bin/sh\nsleep 5; exec "+k.base+"/bin/late \"$@\"\n"), 0o755))
	}
	document := k.write("broker.json", fmt.Sprintf(killedTools, k.sleep))
	script := asking("say", ownToken)
	if tool != "" {
		script += strings.Replace(asking(tool, ownToken), "curl -s", "curl -s --limit-rate 10k", 1) + "\n"
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	cmd := k.command(ctx, specWW, "true")
	cmd.Path = k.base + "/bin/sbx"
	cmd.Args = []string{cmd.Path, "exec", "--spec-json", specWW, "--broker", document, "--", "sh", "-c", script + "echo ready; read line; echo end"}
	k.started = k.launch(cmd, cancel)
	return k
}

// processes returns the processes of the run, by their command lines.
func (k *killing) processes() map[int]string {
	found := map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		line, _ := os.ReadFile(file)
		if text := strings.ReplaceAll(string(line), "\x00", " "); strings.Contains(text, k.base) || strings.Contains(text, "sleep "+k.sleep) {
			found[pid] = text
		}
	}
	return found
}

// find waits for a process whose command line ends with a text and contains the others.
func (k *killing) find(tail string, words ...string) (pid int) {
	k.started.t.Helper()
	within(k.started.t, limit, "a process "+tail, func() bool {
		for p, line := range k.processes() {
			if ok := strings.HasSuffix(strings.TrimSpace(line), tail); ok {
				for _, w := range words {
					ok = ok && strings.Contains(line, w)
				}
				if ok && (pid == 0 || p < pid) {
					pid = p
				}
			}
		}
		return pid != 0
	})
	return pid
}

func (k *killing) broker() int { return k.find("sbx-broker serve") }

// runDir returns the run's own directory.
func (k *killing) runDir() string {
	k.started.t.Helper()
	found, _ := filepath.Glob(k.base + "/state/sbx/runs/*")
	if len(found) != 1 {
		k.started.t.Fatalf("%d runs", len(found))
	}
	return found[0]
}

// lines returns the lines of the audit, which must be whole.
func (k *killing) lines() (all []map[string]any) {
	k.started.t.Helper()
	text, err := os.ReadFile(k.runDir() + "/broker.jsonl")
	if err != nil {
		return nil
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		k.started.t.Errorf("the audit's last line is not whole: %q", text)
	}
	for line := range bytes.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			k.started.t.Errorf("%v: %q", err, line)
		}
		all = append(all, m)
	}
	return all
}

// until waits for a line of the audit.
func (k *killing) until(event string, number int) {
	k.started.t.Helper()
	within(k.started.t, limit, event, func() bool {
		found, _ := filepath.Glob(k.base + "/state/sbx/runs/*/broker.jsonl")
		if len(found) == 0 {
			return false
		}
		text, _ := os.ReadFile(found[0])
		return strings.Count(string(text), `"event": "`+event+`"`) >= number
	})
}

// Whichever process is killed and whenever, nothing that was started remains, the audit's lines are
// whole, and the record claims nothing that was not enforced.
func TestBrokerKilledAtEachStep(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "curl")
	type victim func(k *killing) int
	broker, supervisor := (*killing).broker, func(k *killing) int { return k.cmd.Process.Pid }
	nothing := func(*killing) int { return 0 }
	// The state is how each record is shown; the events are those of the second call.
	type want struct {
		code   int // -1 for any
		state  string
		broker string // the status of broker.file
		calls  any    // as the record has them; nil if nothing could know
		second string
	}
	killed := want{-137, "lost", "enforced", nil, ""}
	gone := want{0, "exited", "degraded", nil, ""}
	with := func(w want, second string) want { w.second = second; return w }
	for _, c := range []struct {
		name, tool string
		slow       bool
		ready      func(k *killing) // waits for the moment to kill
		kill       victim
		want       want
	}{
		{"before ready, nothing", "", true, func(k *killing) { k.find("sbx-broker serve") }, nothing, want{0, "exited", "enforced", 1.0, ""}},
		{"before ready, the broker", "", true, func(k *killing) { k.find("sbx-broker serve") }, broker, want{125, "refused", "", nil, ""}},
		{"before ready, the supervisor", "", true, func(k *killing) { k.find("sbx-broker serve") }, supervisor, killed},
		{"writing, the broker", "", false, (*killing).writing, broker, gone},
		{"deciding, the broker", "asked", false, func(k *killing) { k.until("asked", 2) }, broker, with(gone, "asked")},
		{"deciding, the supervisor", "asked", false, func(k *killing) { k.until("asked", 2) }, supervisor, with(killed, "asked answered")},
		{"running, nothing", "say", false, func(k *killing) { k.until("done", 2) }, nothing, want{0, "exited", "enforced", 2.0, "asked done"}},
		{"running, the broker", "hang", false, func(k *killing) { k.find("sleep " + k.sleep) }, broker, with(gone, "asked")},
		{"running, the tool", "hang", false, func(k *killing) { k.find("sleep " + k.sleep) },
			func(k *killing) int { return k.find("sh -c sleep " + k.sleep + " & sleep " + k.sleep) }, want{0, "exited", "enforced", 2.0, "asked done"}},
		{"running, the tool's sandbox", "hang", false, func(k *killing) { k.find("sleep " + k.sleep) },
			func(k *killing) int {
				return k.find("sleep "+k.sleep+" & sleep "+k.sleep, "sbx exec -- ")
			}, want{0, "exited", "enforced", 2.0, "asked done"}},
		{"running, the supervisor", "hang", false, func(k *killing) { k.find("sleep " + k.sleep) }, supervisor, with(killed, "asked done")},
		{"answering, nothing", "long", false, func(k *killing) { k.until("done", 2) }, nothing, want{0, "exited", "enforced", 2.0, "asked done"}},
		{"answering, the broker", "long", false, func(k *killing) { k.until("done", 2) }, broker, with(gone, "asked done")},
		{"answering, the supervisor", "long", false, func(k *killing) { k.until("done", 2) }, supervisor, with(killed, "asked done")},
		{"ending, the broker", "", false, (*killing).ending, broker, gone},
		{"ending, the supervisor", "", false, (*killing).ending, supervisor, killed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := killable(t, c.tool, c.slow)
			c.ready(k)
			b := k.broker()
			if pid := c.kill(k); pid != 0 {
				must(t, unix.Kill(pid, unix.SIGKILL))
			}
			_ = unix.Kill(b, unix.SIGCONT) // of one that was stopped
			code := k.wait()
			if code != c.want.code {
				t.Errorf("status %d, want %d: %s", code, c.want.code, k.err)
			}
			eventually(t, "nothing stays", func() bool { return len(k.processes()) == 0 })
			r := k.plain(sbxPath, "show", "--json", "last")
			var rec record
			if err := json.Unmarshal([]byte(r.out), &rec); err != nil || rec.text("state") != c.want.state {
				t.Fatalf("%v: the state is %q, want %q: %v", err, rec.text("state"), c.want.state, r)
			}
			if r := k.plain(sbxPath, "show", "last"); r.code != 0 || !strings.Contains(r.out, c.want.state) && c.want.state != "exited" {
				t.Errorf("it is shown as %v", r)
			}
			if c.want.broker != "" {
				rec.hasStatus(t, "broker.file", c.want.broker)
			}
			of, _ := rec["broker"].(map[string]any)
			if of["calls"] != c.want.calls {
				t.Errorf("the record has %v", of)
			}
			var first, second []string
			for _, line := range k.lines() {
				events := &first
				if strings.HasSuffix(fmt.Sprint(line["id"]), "-2") {
					events = &second
				}
				*events = append(*events, fmt.Sprint(line["event"]))
				if line["event"] == "done" && c.tool == "hang" && events == &second && line["status"] != 137.0 && (line["status"] != nil || line["error"] == nil) {
					t.Errorf("a tool that was killed is %v", line)
				}
			}
			if got := strings.Join(second, " "); got != c.want.second {
				t.Errorf("the audit of the second call has %q, want %q", got, c.want.second)
			}
		})
	}
}

// writing leaves a part of a line, like a broker that is killed between two pages of a line.
func (k *killing) writing() {
	k.until("done", 1)
	file, err := os.OpenFile(k.runDir()+"/broker.jsonl", os.O_WRONLY|os.O_APPEND, 0)
	must(k.started.t, err)
	_, err = file.WriteString(`{"at": "2026`)
	must(k.started.t, err)
	must(k.started.t, file.Close())
}

// ending stops the broker while the command ends, so that sbx waits for its last messages.
func (k *killing) ending() {
	k.expect("ready")
	must(k.started.t, unix.Kill(k.broker(), unix.SIGSTOP))
	k.say("go")
	k.expect("end")
	time.Sleep(200 * time.Millisecond)
}
