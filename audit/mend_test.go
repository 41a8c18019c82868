package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"sbx/internal/dirs"
	"sbx/internal/dirs/dirstest"
	"sbx/spec"
)

func TestMend(t *testing.T) {
	dirstest.NoLeak(t)
	dir := dirstest.Temp(t)
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
	dirstest.Plant(t, dir, "sbx/runs/other/effective.json", "sbx/runs/20260101T000000.000-00000000/")

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

// The supervisor writes its final record and ends after Settled has read the record: Settled must
// read it again.
func TestMendAfterTheLastWord(t *testing.T) {
	dir := dirstest.Temp(t)
	gone := Self()
	gone.Start.Value--
	s := open(t, dir, "")
	r := Record{ID: s.id, Supervisor: gone}
	if err := s.Write(r); err != nil {
		t.Fatal(err)
	}
	path := s.Path()
	looked := 0
	ends := func(Process) bool { // runs after the record was read and before the answer
		if looked++; looked == 1 {
			r.EndedAt, r.Exit = time.Now(), Exit{Code: spec.Some(7), EndedBy: "command"}
			if err := s.Close(r); err != nil {
				t.Error(err)
			}
		}
		return true
	}
	read := func() ([]byte, error) { return os.ReadFile(path) }
	b, v, err := settled(read, ends)
	if err != nil || v.State != "exited" || at(decode(t, b), "exit.code") != 7.0 {
		t.Errorf("%s, %v: %s", v.State, err, b)
	}
	// Mend must do the same. It skips a run whose directory is locked.
	s = open(t, dir, "")
	r = Record{ID: s.id, Supervisor: gone}
	if err := s.Write(r); err != nil {
		t.Fatal(err)
	}
	path, looked = s.Path(), 1
	if n := mend(dir+"/sbx", ends); n != 0 || looked != 1 || state(t, path) != "running" {
		t.Errorf("%d mended of a run that has its directory, %s", n, state(t, path))
	}
	runs, err := dirs.Open(unix.AT_FDCWD, dir+"/sbx/runs", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dirs.Close(runs)
	_ = unix.Flock(s.dir, unix.LOCK_UN) // as on a file system without locks
	looked = 0
	if mendRun(runs, s.id, ends) || looked != 1 || state(t, path) != "exited" {
		t.Errorf("a finished record is %s after %d looks", state(t, path), looked)
	}
	// The control is an unfinished record.
	s = open(t, dir, "")
	if err := s.Write(Record{ID: s.id, Supervisor: gone}); err != nil {
		t.Fatal(err)
	}
	path = s.Path()
	s.free()
	if n := mend(dir+"/sbx", ends); n != 1 || state(t, path) != "lost" {
		t.Errorf("%d mended, %s", n, state(t, path))
	}
}

// Each call examines a limited number of runs, and many calls examine all.
func TestMendComesToAll(t *testing.T) {
	dir := dirstest.Temp(t)
	gone := Self()
	gone.Start.Value--
	const runs = mendNewest + 2*mendOlder + 7
	for range runs {
		s := open(t, dir, "")
		if err := s.Close(Record{ID: s.id, Supervisor: gone}); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []int{mendNewest + mendOlder, mendOlder, 7, 0} {
		if n := Mend(dir + "/sbx"); n != want {
			t.Errorf("call %d mended %d, want %d", i, n, want)
		}
	}
	// The next call begins with the oldest run again, so it finds a run that was lost later.
	all, err := filepath.Glob(dir + "/sbx/runs/*/effective.json")
	if err != nil || len(all) != runs {
		t.Fatal(len(all), err)
	}
	for _, path := range []string{all[0], all[len(all)/2]} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(b), `"lost"`, `"running"`, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for range 3 {
		n += Mend(dir + "/sbx")
	}
	if n != 2 {
		t.Errorf("%d mended of 2 that were lost later", n)
	}
	// Nonsense in the file that notes the progress is ignored.
	if err := os.WriteFile(dir+"/sbx/"+mendedName, []byte("zzzz"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := Mend(dir + "/sbx"); n != 0 {
		t.Errorf("%d mended", n)
	}
}

func TestSettled(t *testing.T) {
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
		b, v, err := Settled(func() ([]byte, error) { return c.r.AppendJSON(nil), nil })
		if err != nil || v.State != c.want || at(decode(t, b), "state") != c.want {
			t.Errorf("%s, want %s: %v", v.State, c.want, err)
		}
	}
}
