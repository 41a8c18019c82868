package life

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sbx/dispatch"
	"sbx/spec"
)

// A dispatch goes from its spawn to its end, with counts while it runs.
func TestLife(t *testing.T) {
	needSandbox(t)
	s := newScene(t)
	l := s.ledger()
	j := s.job("sh", "-c", "pwd; /bin/true; /bin/true; sleep 2; cat; test -z \"$(ls "+s.world.StateDir+")\" && echo hidden; echo problem >&2")
	j.HasSpec, j.Spec = true, "{ \"tools_allowed\": [\"Read\"],\n  \"max_turns\": 2, \"working_dir\": \"deep\" }\n"
	must(t, os.Mkdir(filepath.Join(j.Project, "deep"), 0o755))
	id := s.spawn(j)
	if d, err := l.Get(id); err != nil || d.Status != dispatch.Running || !d.PID.Set || !d.StartedAt.Set || d.SandboxEffective.Set {
		t.Errorf("as it begins: %+v, %v", d, err)
	}
	within(t, "its commands are told while it runs", func() bool {
		d, err := s.world.Poll(l, id)
		return err == nil && d.Status == dispatch.Running && d.Commands.Value == 3
	})
	d := s.ended(l, id)
	if d.Status != dispatch.Completed || d.ExitCode != spec.Some(int64(0)) || d.SandboxSpec.Value != j.Spec || d.ErrorMessage.Set || d.Commands.Value != 5 {
		t.Errorf("%+v", d)
	}
	out, err := os.ReadFile(d.OutputFile.Value)
	if want := j.Project + "/deep\nhidden\n"; err != nil || string(out) != want {
		t.Errorf("output %q, %v, want %q", out, err, want)
	}
	r := record(t, d)
	if r["state"] != "exited" || r["access_mode"] != "workspace-write" {
		t.Errorf("%v", r)
	}
	if len(s.left()) > 0 {
		t.Errorf("left: %v", s.left())
	}
}

// A request that cannot be run as requested starts nothing, and the error says why.
func TestRefused(t *testing.T) {
	needSandbox(t)
	for _, c := range []struct {
		name string
		set  func(*Job)
		want string
	}{
		{"no JSON", func(j *Job) { j.HasSpec, j.Spec = true, "access_mode: read-only\n" }, "cannot read the spec"},
		{"an unknown field", func(j *Job) { j.HasSpec, j.Spec = true, `{"access_mod": "read-only"}` }, "access_mode"},
		{"nothing", func(j *Job) { j.HasSpec, j.Spec = true, "" }, "cannot read the spec"},
		{"another mode", func(j *Job) { j.Sandbox = "full" }, "not one of read-only"},
		{"an empty mode", func(j *Job) { j.Sandbox = "" }, "not one of read-only"},
		{"another mode beside a spec", func(j *Job) { j.Sandbox, j.HasSpec, j.Spec = "yolo", true, `{"access_mode": "read-only"}` }, "not one of read-only"},
		{"no such agent", func(j *Job) { j.Argv, j.Agent = nil, "../sh" }, "not the name of a program"},
		{"no such program", func(j *Job) { j.Argv = []string{"sbx-no-such-program"} }, "in no directory of PATH"},
		{"a working_dir that is not there", func(j *Job) { j.HasSpec, j.Spec = true, `{"working_dir": "none"}` }, "working_dir"},
		{"a field that this host does not hold", func(j *Job) { j.HasSpec, j.Spec = true, `{"access_mode": "read-only", "profile": "none"}` }, "profile"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			j := s.job("sh", "-c", ": >begun")
			c.set(&j)
			d := s.ended(s.ledger(), s.spawn(j))
			if d.Status != dispatch.Failed || s.has("begun") || d.SandboxSpec.Value != j.Spec {
				t.Errorf("%+v", d)
			}
			r := record(t, d)
			refusal, _ := r["error"].(map[string]any)
			if r["state"] != "refused" || !strings.Contains(fmt.Sprint(refusal, d.ErrorMessage.Value), c.want) {
				t.Errorf("%v %v, want %q", r["state"], refusal, c.want)
			}
			if _, there := r["access_mode"]; there {
				t.Error("the record says that something held")
			}
		})
	}
}

func TestBudgetsAndTimes(t *testing.T) {
	needSandbox(t)
	s := newScene(t)
	l := s.ledger()
	j := s.job("sh", "-c", "/bin/true; /bin/true; /bin/true")
	j.HasSpec, j.Spec = true, `{"access_mode": "read-only", "max_commands": 1}`
	budget := s.spawn(j)
	j = s.job("sh", "-c", "trap '' TERM; sleep 20; sleep 20")
	j.Timeout = time.Second
	slow := s.spawn(j)
	if d := s.ended(l, budget); d.Status != dispatch.Failed || d.Commands.Value != 1 {
		t.Errorf("max_commands: %+v", d)
	}
	d := s.ended(l, slow)
	if end, _ := record(t, d)["exit"].(map[string]any); d.Status != dispatch.TimedOut || d.ExitCode.Value != 124 || end["ended_by"] != "timeout" {
		t.Errorf("timeout: %+v, %v", d, end)
	}
}

func TestStopAndWait(t *testing.T) {
	needSandbox(t)
	s := newScene(t)
	l := s.ledger()
	meek, stubborn, late := s.spawn(s.job("sleep", "60")), s.spawn(s.job("sh", "-c", "trap '' TERM; while :; do sleep 1; done")), s.spawn(s.job("sleep", "60"))
	for _, id := range []string{meek, stubborn} {
		within(t, "it runs", func() bool { _, v, ok := s.world.dirOf(l.Path(), id).recordNow(); return ok && v.State == "running" })
	}
	time.Sleep(200 * time.Millisecond) // by then the shell has set its trap
	d, err := s.world.Stop(l, meek, dispatch.Cancelled)
	if err != nil || d.Status != dispatch.Cancelled || record(t, d)["state"] != "exited" {
		t.Errorf("%+v, %v", d, err)
	}
	if again, err := s.world.Stop(l, meek, dispatch.Cancelled); err != nil || again != d {
		t.Errorf("stopped twice: %+v, %v", again, err)
	}
	begun := time.Now()
	if d, err := s.world.Wait(l, late, 10*time.Millisecond, 300*time.Millisecond); err != nil || d.Status != dispatch.TimedOut {
		t.Errorf("%+v, %v", d, err)
	}
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("the wait took %v", took)
	}
	d, err = s.world.Stop(l, stubborn, dispatch.Cancelled)
	if end, _ := record(t, d)["exit"].(map[string]any); err != nil || d.Status != dispatch.Cancelled || record(t, d)["state"] != "exited" || end["code"] != 137.0 {
		t.Errorf("by force: %+v, %v, %v", d, err, record(t, d)["exit"])
	}
	within(t, "nothing is left", func() bool { return len(s.left()) == 0 })
}

// A failed dispatch is retried with its contract and its command.
func TestRetry(t *testing.T) {
	needSandbox(t)
	s := newScene(t)
	l := s.ledger()
	j := s.job("sh", "-c", "cat; test -e ready")
	j.HasSpec, j.Spec, j.Prompt = true, `{"access_mode":  "read-only"}`, filepath.Join(s.dir, "prompt")
	must(t, os.WriteFile(j.Prompt, []byte("words"), 0o644))
	id := s.spawn(j)
	s.ended(l, id)
	must(t, os.WriteFile(filepath.Join(j.Project, "ready"), nil, 0o644))
	again, next, err := s.world.Retry(l, s.db, id)
	must(t, err)
	if d, err := s.world.Poll(l, again.ID); err != nil || d.Status != dispatch.Spawned || d.SandboxSpec.Value != j.Spec ||
		again.Attempt != 1 || again.Backoff != 5*time.Second || d.ParentDispatchID.Value != id {
		t.Errorf("%+v, %+v, %v", again, d, err)
	}
	must(t, s.world.Start(next))
	if err := s.world.Start(next); err == nil {
		t.Error("it was started twice")
	}
	d := s.ended(l, again.ID)
	out, _ := os.ReadFile(s.world.dirOf(l.Path(), again.ID).path(outputFile))
	if d.Status != dispatch.Completed || string(out) != "words" || d.OutputFile.Value != next.Output {
		t.Errorf("%+v, output %q", d, out)
	}
	if _, _, err := s.world.Retry(l, s.db, again.ID); err == nil || !strings.Contains(err.Error(), "completed") {
		t.Errorf("what completed is retried: %v", err)
	}
	for i, want := range []time.Duration{5, 10, 20, 40, 80, 160, 300, 300} {
		if got := backoff(int64(i)); got != want*time.Second {
			t.Errorf("backoff %d: %v", i, got)
		}
	}
	// A row that nothing has started can be stopped, and ended rows can be removed.
	other, _, err := s.world.Retry(l, s.db, id)
	must(t, err)
	if d, err := s.world.Stop(l, other.ID, dispatch.Cancelled); err != nil || d.Status != dispatch.Cancelled || record(t, d)["state"] != "refused" {
		t.Errorf("%+v, %v", d, err)
	}
	ids, _, err := l.Prune(time.Now().Add(time.Hour))
	must(t, err)
	must(t, s.world.Clear(l, ids))
	if left, _ := os.ReadDir(s.world.dirs(l.Path())); len(ids) != 3 || len(left) != 0 {
		t.Errorf("pruned %v, left %v", ids, left)
	}
}

// 64 dispatches use one ledger at the same time: each row is complete, and no process sees a lock.
func TestManyAtOnce(t *testing.T) {
	needSandbox(t)
	s := newScene(t)
	const many = 64
	ids := make([]string, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			j := s.job("sh", "-c", fmt.Sprintf("sleep 0.%d; exit %d", i%10, i%3))
			j.HasSpec, j.Spec = true, fmt.Sprintf(`{"access_mode": "read-only", "max_commands": %d}`, i+1)
			d, err := s.world.Spawn(&j, s.row(j))
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
			ids[i] = d.ID
		})
	}
	all.Wait()
	l := s.ledger()
	for i, id := range ids {
		var d dispatch.Dispatch
		for until := time.Now().Add(60 * time.Second); time.Now().Before(until) && !d.Status.Ended(); time.Sleep(20 * time.Millisecond) {
			var err error
			if d, err = l.Get(id); err != nil {
				t.Fatal(err)
			}
		}
		if !d.Status.Ended() || d.ExitCode.Value != int64(i%3) || d.Commands.Value != 1 || d.SandboxSpec.Value != fmt.Sprintf(`{"access_mode": "read-only", "max_commands": %d}`, i+1) ||
			record(t, d)["state"] != "exited" {
			t.Errorf("%d: %+v", i, d)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(s.world.dirs(l.Path()), "*", errorsFile)); len(files) != many {
		t.Errorf("%d directories", len(files))
	}
}

// In a directory that the command can write, the output goes to the file that was intended when the
// command started, and through no link.
func TestOutputIsNotFollowed(t *testing.T) {
	needSandbox(t)
	s := newScene(t)
	l := s.ledger()
	project := filepath.Join(s.dir, "project")
	victim := filepath.Join(s.dir, "victim")
	must(t, os.WriteFile(victim, []byte("mine"), 0o644))
	for i, name := range []string{"out put\nline", "-o", "plain"} {
		dir := filepath.Join(project, fmt.Sprint("dir", i))
		must(t, os.Mkdir(dir, 0o755))
		must(t, os.Symlink(victim, filepath.Join(dir, name)))
		j := s.job()
		j.Argv, j.Agent, j.Output = nil, "sh", filepath.Join(dir, name)
		j.Prompt = filepath.Join(s.dir, "prompt")
		// The command moves the directory away and puts a link to another in its place.
		must(t, os.WriteFile(j.Prompt, []byte("echo words; ln -s "+victim+" "+filepath.Base(dir)+"/x.verdict; mv "+filepath.Base(dir)+" moved"+fmt.Sprint(i)+"; ln -s "+s.dir+" "+filepath.Base(dir)+"\n"), 0o644))
		d := s.ended(l, s.spawn(j))
		if d.Status != dispatch.Completed || d.VerdictStatus.Value != "pass" {
			t.Errorf("%q: %+v", name, d)
		}
		moved := filepath.Join(project, fmt.Sprint("moved", i), name)
		if got, err := os.ReadFile(moved); err != nil || string(got) != "words\n" {
			t.Errorf("%q: %q, %v", name, got, err)
		}
		for _, suffix := range []string{".verdict", ".summary"} {
			if info, err := os.Lstat(moved + suffix); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%q%s: %v", name, suffix, err)
			}
			if exists(filepath.Join(s.dir, name+suffix)) {
				t.Errorf("%q%s was written through the link", name, suffix)
			}
		}
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "mine" {
		t.Errorf("the file behind the link is %q, %v", got, err)
	}
	j := s.job("echo", "x")
	j.Output = os.DevNull
	if d := s.ended(l, s.spawn(j)); d.Status != dispatch.Completed {
		t.Errorf("%+v", d)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Fatal("/dev/null is gone")
	}
}

// The status of a row without a keeper of ours is another program's business, unless the row
// certainly has no process.
func TestAnothersRow(t *testing.T) {
	s := newScene(t)
	s.db = dispatch.Place{Path: filepath.Join(s.dir, "ledger", "intercore.db")}
	s.foreign("INSERT INTO dispatches (id, status, project_dir, pid, started_at) VALUES ('alive', 'running', '/', ?, unixepoch())", os.Getpid())
	s.foreign("INSERT INTO dispatches (id, status, project_dir) VALUES ('fresh', 'spawned', '/')")
	s.foreign("INSERT INTO dispatches (id, status, project_dir, pid, started_at) VALUES ('old', 'running', '/', ?, 1000)", os.Getpid())
	s.foreign("INSERT INTO dispatches (id, status, project_dir) VALUES ('done', 'completed', '/')")
	l := s.ledger()
	for id, want := range map[string]dispatch.Status{"alive": dispatch.Running, "fresh": dispatch.Spawned, "old": dispatch.Failed, "done": dispatch.Completed} {
		d, err := s.world.Poll(l, id)
		if err != nil || d.Status != want || d.SandboxEffective.Set {
			t.Errorf("%s: %+v, %v", id, d, err)
		}
	}
	if _, err := s.world.Stop(l, "alive", dispatch.Cancelled); err == nil {
		t.Error("another's process was stopped")
	}
	if err := syscall.Kill(os.Getpid(), 0); err != nil {
		t.Fatal(err)
	}
	var none *dispatch.NotFound
	if _, err := s.world.Poll(l, "nobody"); !errors.As(err, &none) {
		t.Error(err)
	}
}
