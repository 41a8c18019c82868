package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // for the foreign ledgers
)

// dispatch runs `sbx dispatch` in the workspace.
func (b *box) dispatch(args ...string) result {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, sbxPath, append([]string{"dispatch"}, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.ws, b.env, 2*time.Second
	return b.finish(cmd)
}

// row returns a dispatch as `status --json` prints it.
func (b *box) row(id string) record {
	b.t.Helper()
	r := b.dispatch("status", id, "--json")
	var row record
	if err := json.Unmarshal([]byte(r.out), &row); r.code != 0 || err != nil {
		b.t.Fatalf("%v: %v", err, r)
	}
	return row
}

// effective returns the record that a row contains.
func (r record) effective() record {
	e, _ := r["sandbox_effective"].(map[string]any)
	return e
}

// intercore makes a database of Intercore's in the workspace at a version, according to the facts
// about its columns.
func (b *box) intercore(version int) {
	b.t.Helper()
	must(b.t, os.MkdirAll(b.ws+"/.clavain", 0o755))
	columns := `id TEXT NOT NULL PRIMARY KEY, agent_type TEXT NOT NULL DEFAULT 'codex', status TEXT NOT NULL DEFAULT 'spawned',
		project_dir TEXT NOT NULL, prompt_file TEXT, prompt_hash TEXT, output_file TEXT, verdict_file TEXT, pid INTEGER, exit_code INTEGER,
		name TEXT, model TEXT, sandbox TEXT DEFAULT 'workspace-write', timeout_sec INTEGER, turns INTEGER DEFAULT 0, commands INTEGER DEFAULT 0,
		messages INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, created_at INTEGER NOT NULL DEFAULT (unixepoch()),
		started_at INTEGER, completed_at INTEGER, verdict_status TEXT, verdict_summary TEXT, error_message TEXT, scope_id TEXT, parent_id TEXT`
	if version >= 18 {
		columns += ", sandbox_spec TEXT, sandbox_effective TEXT"
	}
	b.sql("CREATE TABLE dispatches (" + columns + ")")
	b.sql(fmt.Sprintf("PRAGMA user_version = %d", version))
}

func (b *box) sql(statement string, args ...any) {
	b.t.Helper()
	db, err := sql.Open("sqlite", "file:"+b.ws+"/.clavain/intercore.db?_pragma=busy_timeout(10000)")
	must(b.t, err)
	defer db.Close()
	_, err = db.Exec(statement, args...)
	must(b.t, err)
}

// driver returns scripts/dispatch.sh as Intercore calls it, not started.
func (b *box) driver(out, prompt string, more ...string) *exec.Cmd {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	b.t.Cleanup(cancel)
	args := append([]string{filepath.Join(moduleDir, "scripts", "dispatch.sh"), "-C", b.ws, "-o", out, "--prompt-file", prompt}, more...)
	cmd := exec.CommandContext(ctx, "bash", args...)
	cmd.Dir, cmd.WaitDelay = b.ws, 2*time.Second
	cmd.Env = append(append([]string{}, b.env...), "PATH="+filepath.Dir(sbxPath)+":"+os.Getenv("PATH"))
	return cmd
}

// insert adds a row as Intercore's spawn does.
func (b *box) insert(id, agent, out, prompt string, spec any) {
	b.t.Helper()
	b.sql("INSERT INTO dispatches (id, agent_type, project_dir, prompt_file, output_file, verdict_file, sandbox_spec) VALUES (?, ?, ?, ?, ?, ?, ?)",
		id, agent, b.ws, prompt, out, out+".verdict", spec)
}

// The driver is called as Intercore calls it: it finds its row by the output file, keeps to its
// contract, reports its progress, and leaves the files that Intercore reads, and the record.
func TestDispatchDriver(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.intercore(39)
	// The sleep is long enough for the live file to be seen on a busy machine.
	prompt := b.write("task.md", "ls -A .clavain; /bin/true; sleep 6; (: >new) 2>/dev/null || echo refused\n"+
		"echo '--- VERDICT ---'; echo 'STATUS: warn'; echo 'SUMMARY: mind the gap'; echo ---\n")
	out := b.out + "/re port.md"
	b.insert("other", "sh", b.out+"/other.md", prompt, nil)
	b.insert("mine", "sh", out, prompt, `{"access_mode": "read-only", "tools_allowed": ["Read"], "max_turns": 3}`)
	cmd := b.driver(out, prompt, "-n", "job", "-m", "model", "--sandbox", "workspace-write", "--timeout", "30")
	done := make(chan result, 1)
	live := ""
	go func() { done <- b.finish(cmd) }()
	within(t, limit/2, "the live file is there", func() bool {
		select {
		case r := <-done:
			t.Fatalf("it has ended before: %v\n%v", r, b.row("mine"))
		default:
		}
		files, _ := filepath.Glob("/tmp/clavain-dispatch-*.json")
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), `"workdir":"`+b.ws+`"`) && strings.Contains(string(text), `"commands":3`) {
				live = f
				return strings.Contains(string(text), `"name":"job"`) && strings.Contains(string(text), `"turns":0`)
			}
		}
		return false
	})
	r := <-done
	if want := fmt.Sprintf("/tmp/clavain-dispatch-%d.json", cmd.Process.Pid); live != want {
		t.Errorf("the live file is %s, want %s", live, want)
	}
	b.absent(live)
	if r.code != 0 {
		t.Fatalf("%v", r)
	}
	row := b.row("mine")
	e := row.effective()
	if row.text("status") != "completed" || row.text("verdict_status") != "warn" || row.text("verdict_summary") != "mind the gap" || row.whole("exit_code") != 0 {
		t.Errorf("%v", row)
	}
	if e.text("access_mode") != "read-only" || e.status("tools_allowed") != "unavailable" || e.status("max_turns") != "unavailable" || e.whole("commands_used") != 3 {
		t.Errorf("%v", e)
	}
	if spec, _ := row["sandbox_spec"].(map[string]any); record(spec).text("access_mode") != "read-only" {
		t.Errorf("%v", row["sandbox_spec"])
	}
	text, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(text), "refused") {
		t.Errorf("%q, %v", text, err)
	}
	verdict, _ := os.ReadFile(out + ".verdict")
	if !strings.Contains(string(verdict), "\nSTATUS: warn\nSUMMARY: mind the gap\n") {
		t.Errorf("%q", verdict)
	}
	if b.row("other").text("status") != "spawned" {
		t.Error("another's row was touched")
	}
	// Its row is found once: an ended dispatch does not run again.
	if r := b.finish(b.driver(out, prompt)); r.code != 125 || !strings.Contains(r.err, "which has ended") {
		t.Errorf("a second run: %v", r)
	}
}

// If the driver cannot do something, it tells the caller by its status and Intercore by the
// verdict; it never reports more than it did.
func TestDispatchDriverRefuses(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	prompt := b.write("task.md", ": >ran\n")
	refused := func(name, want string, cmd *exec.Cmd) {
		t.Helper()
		r := b.finish(cmd)
		if r.code != 125 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %v, want %q", name, r, want)
		}
		b.absent("ws/ran")
	}
	out := b.out + "/o.md"
	refused("no ledger", ".clavain/intercore.db", b.driver(out, prompt))
	b.intercore(17)
	refused("no row", "there is none with this output", b.driver(out, prompt))
	verdict, _ := os.ReadFile(out + ".verdict")
	if !strings.Contains(string(verdict), "STATUS: fail\nSUMMARY: it was refused: ") {
		t.Errorf("%q", verdict)
	}
	b.insert("mode", "sh", out, prompt, nil)
	b.sql("UPDATE dispatches SET sandbox = 'everything' WHERE id = 'mode'")
	refused("another mode", "not one of read-only", b.driver(out, prompt))
	row := b.row("mode")
	if row.text("status") != "failed" || row.effective().text("state") != "refused" {
		t.Errorf("%v", row)
	}
	b.insert("text", "sh", b.out+"/text.md", prompt, "not JSON")
	refused("no spec", "cannot read the spec", b.driver(b.out+"/text.md", prompt))
	if row := b.row("text"); row.text("sandbox_spec_invalid") != "not JSON" || row.effective().text("state") != "refused" {
		t.Errorf("%v", row)
	}
	b.insert("type", "../bin/sh", b.out+"/type.md", prompt, nil)
	refused("no program's name", "not the name of a program", b.driver(b.out+"/type.md", prompt))
	// A foreign row may contain anything.
	b.insert("x", "sh", b.out+"/x.md", prompt, nil)
	b.sql("UPDATE dispatches SET id = '../x' || char(10), project_dir = '/no/such', timeout_sec = -9223372036854775808, name = char(27) || '[2J', pid = 'p', model = '--yolo' WHERE id = 'x'")
	refused("a project that is not there", "it is not a directory", b.driver(b.out+"/x.md", prompt))
	if row := b.row("../x\n"); row.text("status") != "failed" || row.effective().text("state") != "refused" {
		t.Errorf("%v", row)
	}
	if r := b.dispatch("list"); strings.ContainsAny(r.out, "\x1b") || strings.Count(r.out, "\n") != 4 {
		t.Errorf("%q", r.out)
	}
	b.insert("fifo", "sh", b.out+"/fifo.md", b.base+"/fifo", nil)
	must(t, syscall.Mkfifo(b.base+"/fifo", 0o600))
	refused("a prompt that nobody writes", "not a regular file", b.driver(b.out+"/fifo.md", b.base+"/fifo"))
	b.insert("out", "sh", b.out+"/missing/o.md", prompt, nil)
	refused("no directory for the output", "its directory cannot be opened", b.driver(b.out+"/missing/o.md", prompt))
	// A relative output is another file in each project: its row is the project's own.
	b.insert("own", "sh", "o.md", b.write("own.md", ": >own"), nil)
	b.insert("theirs", "sh", "o.md", prompt, nil)
	b.sql("UPDATE dispatches SET project_dir = '/elsewhere', created_at = created_at + 10 WHERE id = 'theirs'")
	if r := b.finish(b.driver("o.md", b.base+"/own.md")); r.code != 0 || b.row("own").text("status") != "completed" || b.row("theirs").text("status") != "spawned" {
		t.Errorf("a project's own: %v, %v", r, b.row("theirs"))
	}
	if r := b.finish(b.driver(out, prompt, "--faster")); r.code != 2 {
		t.Errorf("an unknown flag: %v", r)
	}
}

// If the driver gets a signal, the agent ends with it. The sender sets the status, as Intercore's
// kill does.
func TestDispatchDriverIsStopped(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.intercore(20)
	prompt := b.write("task.md", "sleep 60 # "+b.base+"\n")
	out := b.out + "/o.md"
	b.insert("slow", "sh", out, prompt, nil)
	cmd := b.driver(out, prompt)
	must(t, cmd.Start())
	within(t, limit/2, "it runs", func() bool { return b.row("slow").whole("commands") == 1 })
	must(t, cmd.Process.Signal(os.Interrupt))
	cmd.Wait()
	row := b.row("slow")
	if row.text("status") != "spawned" || row.effective().text("state") != "exited" {
		t.Errorf("%v", row)
	}
	if r := b.dispatch("poll", "slow"); r.code != 0 || b.row("slow").text("status") == "spawned" {
		t.Errorf("%v %v", r, b.row("slow"))
	}
	// The same goes for a dispatch that sbx itself has started in that ledger; sbx's own kill sets
	// the status.
	for _, own := range []bool{false, true} {
		id := strings.TrimSpace(b.dispatch("spawn", "--", "sh", "-c", "sleep 60").out)
		within(t, limit/2, "it runs", func() bool { return b.row(id).whole("commands") == 1 })
		if own {
			if r := b.dispatch("kill", id); r.out != "killed\n" || b.row(id).text("status") != "cancelled" {
				t.Errorf("%v, %v", r, b.row(id))
			}
			continue
		}
		must(t, syscall.Kill(b.row(id).whole("pid"), syscall.SIGTERM))
		within(t, limit/2, "it has its record", func() bool { return b.row(id).effective() != nil })
		if row := b.row(id); row.text("status") != "running" || row.effective().text("state") != "exited" {
			t.Errorf("%v", row)
		}
		if r := b.dispatch("poll", id); r.code != 0 || b.row(id).text("status") != "failed" {
			t.Errorf("%v, %v", r, b.row(id))
		}
	}
}

// The command of a dispatch cannot reach the ledger.
func TestDispatchLedgerIsOutOfReach(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.intercore(17) // which is copied before it is changed
	b.write("ws/.clavain/intercore.db.backup-20260101-000000", "a copy of Intercore's")
	b.write("ws/.clavain/intercore.db.notes", "words\n")
	r := b.dispatch("spawn", "--sandbox-spec", `{"access_mode": "workspace-write"}`, "--output", "out", "--", "sh", "-c",
		`wc -c <.clavain/intercore.db; cat .clavain/*backup* .clavain/*.notes; for f in db db-journal db-wal db-shm; do (: >.clavain/intercore.$f) 2>/dev/null && echo wrote $f; done
		mv .clavain x 2>/dev/null && echo moved; rm -rf .clavain/* 2>/dev/null; ls .clavain | grep -c intercore; : >beside && echo free`)
	if r.code != 0 {
		t.Fatalf("%v", r)
	}
	id := strings.TrimSpace(r.out)
	b.dispatch("wait", id)
	b.holds("ws/out", "0\nwords\n6\nfree\n")
	if copies, err := filepath.Glob(b.ws + "/.clavain/*.sbx-backup-v17-*"); err != nil || len(copies) != 1 {
		t.Errorf("%v, %v", copies, err)
	}
	if row := b.row(id); row.text("status") != "completed" || row.effective().status("filesystem.hide") != "enforced" {
		t.Errorf("%v", row)
	}
}

// Nor can it change the directories above the ledger, wherever it may write them.
func TestDispatchLedgerStaysWhereItIs(t *testing.T) {
	needSandbox(t)
	for _, c := range []struct{ name, dir, inside, spec string }{
		{"in the project", "/ws/a/b", "/ws/a/b", specWW},
		{"in another writable directory", "/out/a/b", "/out/a/b", `{"access_mode": "workspace-write", "filesystem": {"write": ["../out"]}}`},
		{"in what a mount shows", "/out/a/b", "/mnt/a/b", `{"access_mode": "workspace-write", "filesystem": {"mounts": [{"label": "out", "source": "../out", "target": "/mnt", "mode": "rw"}]}}`},
		{"where all may be written", "/out/a/b", "/out/a/b", `{"filesystem": {"hide": ["nothing"]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBoxElsewhere(t)
			must(t, os.MkdirAll(b.base+c.dir, 0o755))
			dir, db := c.inside, b.base+c.dir+"/led.db"
			if !strings.HasPrefix(dir, "/mnt") {
				dir = b.base + dir
			}
			script := fmt.Sprintf(`cd %s/.. || exit; mv b b2 2>/dev/null && echo moved it; cd ..; mv a a2 2>/dev/null && echo moved above
				mkdir -p a/b; cd a/b || exit; (echo forged >led.db) 2>/dev/null && echo written; (: >led.db-journal) 2>/dev/null && echo beside
				grep -q SQLite led.db && echo read; cd ../..; mkdir c && mv c d && echo control`, dir)
			r := b.dispatch("spawn", "--db", db, "--sandbox-spec", c.spec, "--output", b.ws+"/said", "--", "sh", "-c", script)
			if r.code != 0 {
				t.Fatalf("%v", r)
			}
			b.dispatch("wait", strings.TrimSpace(r.out), "--db", db)
			b.holds("ws/said", "control\n")
			if r := b.dispatch("list", "--db", db, "--json"); r.code != 0 || !strings.Contains(r.out, `"completed"`) {
				t.Errorf("%v", r)
			}
			if c.inside == c.dir {
				b.sh(specFull, "rmdir "+dir+"/../../d; "+script).ended()
				if text, err := os.ReadFile(db); string(text) != "forged\n" {
					t.Errorf("control: %q, %v", text, err)
				}
			}
		})
	}
}
