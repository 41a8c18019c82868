package life

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sbx/audit"
	"sbx/dispatch"
)

// task is a command that runs long enough to be killed, and leaves a file at its end. The file's
// name identifies its processes.
func (s *scene) task() []string {
	return []string{"sh", "-c", "echo begun; : >begun; sleep 1; : >through # " + s.dir}
}

// left returns the processes that have a path in the scene's directory, or its task, among their
// arguments. The directory itself does not count: an unrelated program may run over everything next
// to it.
func (s *scene) left() (all []string) {
	dirs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range dirs {
		if b, err := os.ReadFile(f); err == nil && (strings.Contains(string(b), s.dir+"/") || strings.Contains(string(b), "# "+s.dir)) {
			all = append(all, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return all
}

func (s *scene) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, "project", name))
	return err == nil
}

// truth is a result that may be true after a kill: a status and a record's state.
type truth struct {
	status dispatch.Status
	state  string
}

// Each process is killed at each of its steps. Whatever that leaves, a poll gives the row a true
// end, no process keeps running, and a spawn that was interrupted before its row was added has
// started nothing.
func TestKilledAtEachStep(t *testing.T) {
	needSandbox(t)
	for _, c := range []struct {
		who, step string
		want      []truth // none: there is no row
	}{
		{"spawn", "spawn: directory made", nil},
		{"spawn", "spawn: keeper started", nil},
		{"spawn", "spawn: job written", nil},
		{"spawn", "spawn: keeper noted", nil},
		{"spawn", "spawn: row added", []truth{{dispatch.Failed, "refused"}, {dispatch.Failed, "lost"}}},
		{"spawn", "spawn: keeper told", []truth{{dispatch.Completed, "exited"}}},
		{"keeper", "keeper: told to go", []truth{{dispatch.Failed, "lost"}}},
		{"keeper", "keeper: command started", []truth{{dispatch.Failed, "lost"}}},
		{"keeper", "keeper: command ended", []truth{{dispatch.Completed, "exited"}}},
		{"keeper", "keeper: output written", []truth{{dispatch.Completed, "exited"}}},
		{"keeper", "keeper: row ended", []truth{{dispatch.Completed, "exited"}}},
		{"driver", "driver: row found", []truth{{dispatch.Failed, ""}}},
		{"driver", "driver: directory made", []truth{{dispatch.Failed, "lost"}}},
		{"driver", "keeper: command started", []truth{{dispatch.Failed, "lost"}}},
		{"driver", "keeper: command ended", []truth{{dispatch.Completed, "exited"}}},
		{"driver", "keeper: output written", []truth{{dispatch.Completed, "exited"}}},
		{"driver", "keeper: row ended", []truth{{dispatch.Completed, "exited"}}},
	} {
		t.Run(c.who+"/"+strings.ReplaceAll(c.step, ": ", "/"), func(t *testing.T) {
			s := newScene(t)
			p := part{Do: "spawn", World: s.world.facts(), Marker: filepath.Join(s.dir, "stopped")}
			p.Job = s.job(s.task()...)
			p.Row = s.row(p.Job)
			switch c.who {
			case "spawn":
				p.Stop = c.step
			case "keeper":
				p.Keeper = c.step
			case "driver":
				p = s.drives(p)
				p.Stop = c.step
			}
			cmd := s.start(p)
			within(t, "it has stopped at "+c.step, func() bool { return exists(p.Marker) })
			s.kill(c.who, cmd.Process.Pid)
			_ = cmd.Wait()
			if c.who == "driver" { // as Intercore does, which may poll late
				s.foreign("UPDATE dispatches SET status = 'running', pid = ?, started_at = unixepoch() WHERE status = 'spawned'", cmd.Process.Pid)
			}
			rows, err := s.ledger().List(dispatch.Filter{})
			if err != nil && c.want != nil {
				t.Fatal(err)
			}
			if c.want == nil {
				if len(rows) != 0 {
					t.Errorf("there is a row: %+v", rows)
				}
				within(t, "nothing is left", func() bool { return len(s.left()) == 0 })
				if s.has("begun") {
					t.Error("the command was started")
				}
				return
			}
			if len(rows) != 1 {
				t.Fatalf("%d rows", len(rows))
			}
			s.isTrue(s.ended(s.ledger(), rows[0].ID), c.want)
			within(t, "nothing is left", func() bool { return len(s.left()) == 0 })
		})
	}
}

// isTrue compares a row's end with the results that may be true, and with what the host shows.
func (s *scene) isTrue(d dispatch.Dispatch, want []truth) {
	s.t.Helper()
	r := map[string]any{"state": ""} // without a record no sandbox was begun
	if d.SandboxEffective.Set {
		r = record(s.t, d)
	}
	got := truth{d.Status, r["state"].(string)}
	ok := false
	for _, w := range want {
		ok = ok || got == w
	}
	if !ok {
		s.t.Errorf("%+v (%s), want one of %+v", got, d.ErrorMessage.Value, want)
	}
	if through := s.has("through"); through != (got.status == dispatch.Completed) {
		s.t.Errorf("the command came through: %v, the row says %s", through, got.status)
	}
	_, counted := r["commands_used"]
	if exited := got.state == "exited"; exited != counted || exited && d.Commands.Value != 1 {
		s.t.Errorf("commands_used is there: %v, and the row says %d", counted, d.Commands.Value)
	}
	if code := d.ExitCode; got.state == "exited" && (!code.Set || code.Value != 0) || got.state == "lost" && code.Set {
		s.t.Errorf("%s, and the exit code is %+v", got.state, code)
	}
	if _, err := audit.Parse([]byte(d.SandboxEffective.Value)); err != nil && got.state != "" {
		s.t.Error(err)
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// kill kills one of the processes, by its number.
func (s *scene) kill(who string, pid int) {
	s.t.Helper()
	if who == "keeper" {
		files, err := filepath.Glob(filepath.Join(s.world.StateDir, "dispatches", "*", "*"))
		if err != nil || len(files) != 1 {
			s.t.Fatalf("%v, %v", files, err)
		}
		p, noted := jobDir(files[0]).process()
		if !noted {
			s.t.Fatal("no keeper is noted")
		}
		pid = p.PID
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	if who == "keeper" {
		within(s.t, "the keeper is gone", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) })
	}
}

func zombie(pid int) bool { return audit.ProcessOf(pid).Gone() }

// drives turns a spawn into a driver with a row of Intercore's. Its agent is a shell that reads the
// task as its prompt.
func (s *scene) drives(p part) part {
	s.t.Helper()
	s.db = dispatch.Place{Path: filepath.Join(s.dir, "project", ".clavain", "intercore.db"), Found: true}
	must(s.t, os.Mkdir(filepath.Dir(s.db.Path), 0o755))
	prompt, out := filepath.Join(s.dir, "prompt"), filepath.Join(s.dir, "out.md")
	must(s.t, os.WriteFile(prompt, []byte(s.task()[2]+"\n"), 0o644))
	s.foreign(`INSERT INTO dispatches (id, agent_type, status, project_dir, prompt_file, output_file) VALUES ('ic1', 'sh', 'spawned', ?, ?, ?)`,
		filepath.Join(s.dir, "project"), prompt, out)
	return part{Do: "drive", World: p.World, Marker: p.Marker, Driver: Driver{Dir: filepath.Join(s.dir, "project"), Output: out, Prompt: prompt}}
}

// foreign makes a database of Intercore's newest version and runs a statement in it.
func (s *scene) foreign(statement string, args ...any) {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.db.Path)
	must(s.t, err)
	defer db.Close()
	for _, q := range []string{`CREATE TABLE IF NOT EXISTS dispatches (id TEXT NOT NULL PRIMARY KEY, agent_type TEXT NOT NULL DEFAULT 'codex',
		status TEXT NOT NULL DEFAULT 'spawned', project_dir TEXT NOT NULL, prompt_file TEXT, prompt_hash TEXT, output_file TEXT, verdict_file TEXT,
		pid INTEGER, exit_code INTEGER, name TEXT, model TEXT, sandbox TEXT DEFAULT 'workspace-write', sandbox_spec TEXT, sandbox_effective TEXT,
		timeout_sec INTEGER, turns INTEGER DEFAULT 0, commands INTEGER DEFAULT 0, messages INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
		output_tokens INTEGER DEFAULT 0, cache_hits INTEGER, created_at INTEGER NOT NULL DEFAULT (unixepoch()), started_at INTEGER,
		completed_at INTEGER, verdict_status TEXT, verdict_summary TEXT, error_message TEXT, scope_id TEXT, parent_id TEXT)`, "PRAGMA user_version = 39"} {
		_, err := db.Exec(q)
		must(s.t, err)
	}
	_, err = db.Exec(statement, args...)
	must(s.t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// If sbx exec itself is killed, its keeper ends the row.
func TestExecIsKilled(t *testing.T) {
	needSandbox(t)
	s := newScene(t)
	l := s.ledger()
	id := s.spawn(s.job(s.task()...))
	f := s.world.dirOf(l.Path(), id)
	within(t, "the command has begun", func() bool { return s.has("begun") })
	_, v, ok := f.recordNow()
	if !ok {
		t.Fatal("no record")
	}
	must(t, syscall.Kill(v.Supervisor().PID, syscall.SIGKILL))
	d := s.ended(l, id)
	s.isTrue(d, []truth{{dispatch.Failed, "lost"}})
	within(t, "nothing is left", func() bool { return len(s.left()) == 0 })
}
