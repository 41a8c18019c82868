package dispatch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sbx/spec"
)

// both runs a test on a ledger of our own and on foreign ones.
func both(t *testing.T, f func(t *testing.T, l *Ledger)) {
	t.Helper()
	t.Run("own", func(t *testing.T) { f(t, own(t)) })
	for _, v := range []int{2, 17, currentForeign} {
		t.Run(fmt.Sprint("version ", v), func(t *testing.T) { f(t, open(t, foreign(t, v))) })
	}
}

func get(t *testing.T, l *Ledger, id string) Dispatch {
	t.Helper()
	d, err := l.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// odd is a valid but unusual spec: spaces, an escape, a number in another form, a newline at the
// end.
const odd = "{ \"access_mode\" :\t\"read-only\",\n \"max_commands\": 3 , \"tools_allowed\":[\"R\\u0065ad\"] }\n"

func TestSpecIsKeptByteForByte(t *testing.T) {
	both(t, func(t *testing.T, l *Ledger) {
		for i, text := range []string{odd, "{}", "no JSON \x00 at all \xff", strings.Repeat(" ", 1<<20) + "{}", "ünïcode \u2028"} {
			id := fmt.Sprint("spec", i)
			if err := l.Insert(&Dispatch{ID: id, AgentType: "sh", Status: Running, ProjectDir: "/p", SandboxSpec: spec.Some(text)}); err != nil {
				t.Fatal(err)
			}
			if got := get(t, l, id).SandboxSpec; !got.Set || got.Value != text {
				t.Errorf("%d: %q came back as %q", i, text, got.Value)
			}
		}
		if err := l.Insert(&Dispatch{ID: "none", Status: Running}); err != nil {
			t.Fatal(err)
		}
		if d := get(t, l, "none"); d.SandboxSpec.Set || d.SandboxEffective.Set || d.Sandbox.Set {
			t.Errorf("a row without a spec is %+v", d)
		}
	})
}

// A row to which another table refers stays when the rest is pruned.
func TestPruneKeepsWhatIsNamed(t *testing.T) {
	path := foreign(t, currentForeign)
	l := open(t, path)
	for _, id := range []string{"a", "b", "c"} {
		if err := l.Insert(&Dispatch{ID: id, Status: Failed, CreatedAt: spec.Some(int64(100))}); err != nil {
			t.Fatal(err)
		}
	}
	run(t, path, "INSERT INTO scheduler_jobs VALUES ('j', 'b')",
		"CREATE TRIGGER held BEFORE DELETE ON dispatches WHEN OLD.id = 'held' BEGIN SELECT RAISE(ABORT, 'it is held'); END")
	ids, kept, err := l.Prune(time.Unix(200, 0))
	if err != nil || kept != 1 || fmt.Sprint(ids) != "[old1 a c]" {
		t.Errorf("%v, %d, %v", ids, kept, err)
	}
	run(t, path, "DELETE FROM scheduler_jobs")
	if ids, kept, err := l.Prune(time.Unix(200, 0)); err != nil || kept != 0 || fmt.Sprint(ids) != "[b]" {
		t.Errorf("%v, %d, %v", ids, kept, err)
	}
	// After another refusal everything is unchanged.
	for _, id := range []string{"free", "held"} {
		if err := l.Insert(&Dispatch{ID: id, Status: Failed, CreatedAt: spec.Some(int64(100))}); err != nil {
			t.Fatal(err)
		}
	}
	if ids, _, err := l.Prune(time.Unix(200, 0)); err == nil || !strings.Contains(err.Error(), "it is held") || len(ids) != 0 || get(t, l, "free").ID != "free" {
		t.Errorf("%v, %v", ids, err)
	}
}

// In a ledger of our own, nothing can change columns that must not change, whoever writes.
func TestTriggers(t *testing.T) {
	l := own(t)
	for _, s := range []Status{Running, Completed} {
		if err := l.Insert(&Dispatch{ID: string(s), Status: s, SandboxSpec: spec.Some("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	run(t, l.Path(), "UPDATE dispatches SET sandbox_effective = '{\"a\":1}' WHERE id = 'completed'")
	for _, c := range []struct{ do, want string }{
		{"UPDATE dispatches SET sandbox_spec = '{ }' WHERE id = 'running'", "sandbox_spec cannot be changed"},
		{"UPDATE dispatches SET sandbox_spec = NULL WHERE id = 'running'", "sandbox_spec cannot be changed"},
		{"UPDATE dispatches SET sandbox_spec = CAST('{}' AS BLOB) WHERE id = 'running'", "sandbox_spec cannot be changed"},
		{"UPDATE dispatches SET sandbox_effective = '{}' WHERE id = 'running'", "at a terminal status"},
		{"UPDATE dispatches SET sandbox_effective = '{}' WHERE id = 'completed'", "set once"},
		{"UPDATE dispatches SET sandbox_effective = NULL WHERE id = 'completed'", "set once"},
		{"UPDATE dispatches SET status = 'running' WHERE id = 'completed'", "has ended already"},
		{"UPDATE dispatches SET status = 'failed', sandbox_effective = '{}' WHERE id = 'completed'", ""},
		{"UPDATE dispatches SET id = 'other' WHERE id = 'running'", "id of a dispatch"},
		{"INSERT OR REPLACE INTO dispatches (id, project_dir) VALUES ('running', '/')", "there is a dispatch"},
		{"INSERT INTO dispatches (id, project_dir, sandbox_effective) VALUES ('new', '/', '{}')", "at a terminal status"},
	} {
		err := try(l.Path(), c.do)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.do, err, c.want)
		}
	}
	// The control: columns that may change can be changed.
	run(t, l.Path(), "UPDATE dispatches SET sandbox_spec = sandbox_spec, turns = 3 WHERE id = 'running'",
		"UPDATE dispatches SET status = 'failed', sandbox_effective = '{}' WHERE id = 'running'")
}

// A record is set once, with or after a terminal status, in any ledger.
func TestEnd(t *testing.T) {
	both(t, func(t *testing.T, l *Ledger) {
		now := time.Unix(5000, 0)
		end := func(id string, e End) {
			t.Helper()
			e.At = now
			if err := l.End(id, e); err != nil {
				t.Fatal(err)
			}
		}
		insert := func(id string, s Status) {
			t.Helper()
			if err := l.Insert(&Dispatch{ID: id, Status: s}); err != nil {
				t.Fatal(err)
			}
		}
		insert("a", Running)
		first := End{Status: Completed, ExitCode: spec.Some(int64(0)), Effective: spec.Some(`{"n":1}`),
			Counts: Counts{Commands: spec.Some(int64(4)), Turns: spec.Some(int64(2)), Input: spec.Some(int64(10)), Cached: spec.Some(int64(1))}}
		end("a", first)
		end("a", End{Status: Failed, Effective: spec.Some(`{"n":2}`)})
		d := get(t, l, "a")
		if d.Status != Completed || d.SandboxEffective.Value != `{"n":1}` || d.Commands.Value != 4 || d.Turns.Value != 2 ||
			d.InputTokens.Value != 10 || d.CompletedAt.Value != 5000 || d.ExitCode != spec.Some(int64(0)) {
			t.Errorf("%+v", d)
		}
		// Another process has ended it: the record is added, once.
		insert("b", Cancelled)
		end("b", End{Status: Completed, Effective: spec.Some("{}")})
		if d := get(t, l, "b"); d.Status != Cancelled || d.SandboxEffective.Value != "{}" {
			t.Errorf("%+v", d)
		}
		end("b", End{Status: Completed, Effective: spec.Some("{ }")})
		if l.Own() {
			return
		}
		insert("c", Running)
		end("c", End{KeepStatus: true, Effective: spec.Some("{}")})
		end("c", End{Status: Cancelled, Effective: spec.Some("{ }")})
		if d := get(t, l, "c"); d.Status != Cancelled || d.SandboxEffective.Value != "{}" {
			t.Errorf("%+v", d)
		}
	})
}

func TestCountsAndClaims(t *testing.T) {
	both(t, func(t *testing.T, l *Ledger) {
		if err := l.Insert(&Dispatch{ID: "a", Status: Spawned}); err != nil {
			t.Fatal(err)
		}
		for i, want := range []bool{true, false} {
			if got, err := l.Claim("a", 42, time.Unix(7, 0)); got != want || err != nil {
				t.Errorf("claim %d: %v, %v", i, got, err)
			}
		}
		if err := l.Progress("a", Counts{Turns: spec.Some(int64(1)), Commands: spec.Some(int64(2)), Messages: spec.Some(int64(3))}); err != nil {
			t.Fatal(err)
		}
		if err := l.Tokens("a", Counts{Input: spec.Some(int64(5)), Output: spec.Some(int64(6))}); err != nil {
			t.Fatal(err)
		}
		d := get(t, l, "a")
		if d.Status != Running || d.PID.Value != 42 || d.Turns.Value != 1 || d.Commands.Value != 2 || d.Messages.Value != 3 || d.OutputTokens.Value != 6 {
			t.Errorf("%+v", d)
		}
		if err := l.End("a", End{Status: Failed, At: time.Unix(9, 0)}); err != nil {
			t.Fatal(err)
		}
		if err := l.Progress("a", Counts{Turns: spec.Some(int64(99))}); err != nil || get(t, l, "a").Turns.Value != 1 {
			t.Errorf("a dispatch that has ended goes on: %v", err)
		}
		var none *NotFound
		if err := l.Tokens("nobody", Counts{Input: spec.Some(int64(5))}); !errors.As(err, &none) {
			t.Errorf("tokens of nobody: %v", err)
		}
		if _, err := l.Get("nobody"); !errors.As(err, &none) {
			t.Errorf("nobody: %v", err)
		}
	})
}

func TestListAndPrune(t *testing.T) {
	both(t, func(t *testing.T, l *Ledger) {
		for i, s := range []Status{Running, Completed, Spawned, Failed} {
			d := Dispatch{ID: string(s), Status: s, CreatedAt: spec.Some(int64(1000 + i)), ScopeID: spec.Some(fmt.Sprint(i % 2)), OutputFile: spec.Some("/out")}
			if err := l.Insert(&d); err != nil {
				t.Fatal(err)
			}
		}
		ids := func(f Filter) string {
			list, err := l.List(f)
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, d := range list {
				all = append(all, d.ID)
			}
			return strings.Join(all, " ")
		}
		if got := ids(Filter{Active: true}); got != "spawned running" {
			t.Errorf("active: %s", got)
		}
		if got := ids(Filter{Scope: spec.Some("1")}); got != "failed completed" {
			t.Errorf("of a scope: %s", got)
		}
		if got := ids(Filter{Output: spec.Some("/out")}); got != "failed spawned completed running" {
			t.Errorf("by output: %s", got)
		}
		gone, _, err := l.Prune(time.Unix(1003, 0))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(fmt.Sprint(gone), "completed") || strings.Contains(ids(Filter{}), "completed") {
			t.Errorf("pruned %v, left %s", gone, ids(Filter{}))
		}
		if got := ids(Filter{}); !strings.HasPrefix(got, "failed spawned running") {
			t.Errorf("left %s", got)
		}
	})
}

// The columns of a foreign row may contain anything.
func TestHostileRow(t *testing.T) {
	path := foreign(t, 20)
	run(t, path, "INSERT INTO dispatches (id, status, agent_type, project_dir, pid, exit_code, turns, created_at, sandbox, sandbox_spec, name) "+
		"VALUES ('../../x', 'no state', x'00ff', '', 'many', 1.5, x'31', 'yesterday', 7, x'7b7d', char(27) || '[2J')")
	d := get(t, open(t, path), "../../x")
	if d.PID.Set || d.ExitCode.Set || d.CreatedAt.Set || d.Sandbox.Value != "7" || d.SandboxSpec.Value != "{}" || d.Status.Ended() {
		t.Errorf("%+v", d)
	}
}

func TestReadOnlyDatabase(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("as root no mode makes a file read-only; package life has disks that are")
	}
	l := own(t)
	if err := l.Insert(&Dispatch{ID: "a", Status: Running}); err != nil {
		t.Fatal(err)
	}
	l.Close()
	dir := filepath.Dir(l.Path())
	for _, p := range []string{l.Path(), dir} {
		if err := os.Chmod(p, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	r, err := Open(Place{Path: l.Path()}, Read)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if d, err := r.Get("a"); err != nil || d.Status != Running {
		t.Errorf("%+v, %v", d, err)
	}
	if err := r.Insert(&Dispatch{ID: "b", Status: Running}); err == nil || !strings.Contains(err.Error(), "may only be read") {
		t.Errorf("a ledger that was opened for reading: %v", err)
	}
	if os.Getuid() != 0 {
		if _, err := Open(Place{Path: l.Path()}, Write); err == nil {
			t.Error("a read-only file was opened for writing")
		}
	}
}

func TestFind(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "a", "b", "c")
	if err := os.MkdirAll(filepath.Join(top, "a", ".clavain"), 0o755); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(top, "a", foreignName)
	owners := func(of map[string]int) Owners {
		return func(path string) (int, bool) { uid, there := of[path]; return uid, there }
	}
	for _, c := range []struct {
		name, named string
		owners      map[string]int
		want        Place
		err         string
	}{
		{"nothing", "", nil, Place{Path: "/state/sbx/dispatches.db", Home: true}, ""},
		{"named", "/x/y.db", map[string]int{db: 7}, Place{Path: "/x/y.db"}, ""},
		{"the caller's", "", map[string]int{db: 7}, Place{Path: db, Found: true}, ""},
		{"root's", "", map[string]int{db: 0}, Place{Path: db, Found: true}, ""},
		{"the project's owner's", "", map[string]int{db: 9, deep: 9}, Place{Path: db, Found: true}, ""},
		{"a stranger's", "", map[string]int{db: 9, deep: 7}, Place{}, "another user (uid 9)"},
		{"the nearest", "", map[string]int{db: 9, filepath.Join(deep, foreignName): 7}, Place{Path: filepath.Join(deep, foreignName), Found: true}, ""},
	} {
		got, err := Find(c.named, deep, "/state/sbx", 7, owners(c.owners))
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	if _, err := Find("", deep, "", 7, owners(nil)); err == nil {
		t.Error("a ledger without a place")
	}
}
