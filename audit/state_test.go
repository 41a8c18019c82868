package audit

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/spec"
)

// TestLife tells a living process from one that has ended, from one of the
// same pid, and from what cannot be told.
func TestLife(t *testing.T) {
	self := Self()
	if self.PID != os.Getpid() || !self.Start.Set || len(self.BootID) != 36 || !self.Namespace.Set {
		t.Fatalf("%+v", self)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	zombie := exec.Command("true")
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	defer zombie.Wait()
	var zp Process
	for range 200 {
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(zombie.Process.Pid) + "/stat")
		st, start := parseStat(b)
		zp = Process{zombie.Process.Pid, start, self.BootID, self.Namespace}
		if st == 'Z' {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	change := func(f func(p *Process)) Process { p := self; f(&p); return p }
	for _, c := range []struct {
		name string
		p    Process
		want life
	}{
		{"self", self, lifeRuns},
		{"ended", change(func(p *Process) { p.PID = ended.Process.Pid }), lifeEnded},
		{"zombie", zp, lifeEnded},
		{"pid used again", change(func(p *Process) { p.Start.Value-- }), lifeEnded},
		{"another boot", change(func(p *Process) { p.BootID = "other" }), lifeEnded},
		{"another boot and namespace", change(func(p *Process) { p.BootID = "other"; p.Namespace.Value++ }), lifeEnded},
		{"another namespace", change(func(p *Process) { p.Namespace.Value++; p.PID = ended.Process.Pid }), lifeUnknown},
		{"no boot id", change(func(p *Process) { p.BootID = "" }), lifeUnknown},
		{"no start", change(func(p *Process) { p.Start = spec.Opt[int64]{} }), lifeUnknown},
		{"no pid", change(func(p *Process) { p.PID = 0 }), lifeUnknown},
		{"odd pid", change(func(p *Process) { p.PID = -1 }), lifeUnknown},
	} {
		if got := c.p.life(self); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestParseStat(t *testing.T) {
	rest := " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20"
	for _, c := range []struct {
		in    string
		state byte
		start int64
	}{
		{"1 (sh)" + rest, 'S', 777},
		{"1 (a) R 1 (b)" + rest, 'S', 777},
		{"1 (a\n))" + rest, 'S', 777},
		{"", 0, 0}, {"1 (sh)", 0, 0}, {"1 (sh) S 1", 0, 0}, {"1 (sh) SS" + rest[2:], 0, 0},
	} {
		if state, start := parseStat([]byte(c.in)); state != c.state || start.Value != c.start {
			t.Errorf("%q: %c %v", c.in, state, start)
		}
	}
}

func TestMend(t *testing.T) {
	noLeak(t)
	dir := temp(t)
	self := Self()
	gone := self
	gone.Start.Value--
	write := func(p Process, r Record) string {
		t.Helper()
		s := open(t, dir, "")
		r.ID, r.Supervisor = s.id, p
		if err := s.Close(r); err != nil {
			t.Fatal(err)
		}
		return s.Path()
	}
	alive := write(self, Record{})
	lost := write(gone, Record{Command: Command{Argv: []string{"make", "all"}}, Usage: Usage{WallMS: spec.Some[int64](5)}})
	exited := write(gone, Record{EndedAt: time.Now()})
	refused := write(gone, Record{Error: &Refusal{Reason: "x"}})
	elsewhere := gone
	elsewhere.Namespace.Value++
	other := write(elsewhere, Record{})
	broken := write(gone, Record{})
	if err := os.WriteFile(broken, []byte(`{"record_version": 1, "state": "running"`), 0o600); err != nil {
		t.Fatal(err)
	}
	link := write(gone, Record{})
	victim := dir + "/victim"
	if err := os.Rename(link, victim); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	fifo := write(gone, Record{})
	if err := os.Remove(fifo); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	plant(t, dir, "sbx/runs/other/effective.json", "sbx/runs/20260101T000000.000-00000000/")

	if n := Mend(dir + "/sbx"); n != 1 {
		t.Errorf("%d mended, want 1", n)
	}
	for path, want := range map[string]string{alive: "running", lost: "lost", exited: "exited", refused: "refused", other: "running", victim: "running"} {
		if got := state(t, path); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	b, err := os.ReadFile(lost)
	if err != nil {
		t.Fatal(err)
	}
	m := decode(t, b)
	if at(m, "command.argv.1") != "all" || at(m, "usage.wall_ms") != 5.0 || at(m, "pid") != float64(self.PID) {
		t.Errorf("something was lost of %s", b)
	}
	if n := Mend(dir + "/sbx"); n != 0 {
		t.Errorf("%d mended again", n)
	}
	if n := Mend(dir + "/nowhere"); n != 0 {
		t.Errorf("%d mended nowhere", n)
	}
}

func TestMendIsBounded(t *testing.T) {
	dir := temp(t)
	gone := Self()
	gone.Start.Value--
	for range 2 * maxMend {
		s := open(t, dir, "")
		if err := s.Close(Record{ID: s.id, Supervisor: gone}); err != nil {
			t.Fatal(err)
		}
	}
	if n := Mend(dir + "/sbx"); n != maxMend {
		t.Errorf("%d mended, want %d", n, maxMend)
	}
}

func TestDerive(t *testing.T) {
	gone := Self()
	gone.Start.Value--
	for _, c := range []struct {
		r    Record
		want string
	}{
		{Record{Supervisor: Self()}, "running"},
		{Record{Supervisor: gone}, "lost"},
		{Record{Supervisor: gone, EndedAt: time.Now()}, "exited"},
		{Record{}, "running"},
	} {
		v, err := Parse(c.r.AppendJSON(nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Derive().State; got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestLoad(t *testing.T) {
	noLeak(t)
	dir := temp(t)
	var ids []string
	for i := range 3 {
		s, err := Open(spec.Opt[string]{}, "", []string{"XDG_STATE_HOME=" + dir}, "", "20260101T00000"+strconv.Itoa(i)+".000-0000000"+strconv.Itoa(i))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(Record{ID: s.id}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.id)
	}
	plant(t, dir, "sbx/runs/20270101T000000.000-00000000/", "sbx/runs/zzz/effective.json")
	for name, want := range map[string]string{
		"last": ids[2], ids[0]: ids[0], "20260101T000001": ids[1], dir + "/sbx/runs/" + ids[0] + "/effective.json": ids[0],
	} {
		b, path, err := Load(dir+"/sbx", name)
		if err != nil || !strings.Contains(string(b), want) || !strings.Contains(path, want) {
			t.Errorf("%s: %s, %v", name, path, err)
		}
	}
	for _, name := range []string{"nothing", dir, dir + "/no.json", "20270101", ".."} {
		if _, _, err := Load(dir+"/sbx", name); err == nil {
			t.Errorf("%s was loaded", name)
		}
	}
	if _, _, err := Load(dir+"/empty", "last"); err == nil {
		t.Error("the last of nothing was loaded")
	}
}
