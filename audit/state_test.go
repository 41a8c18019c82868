package audit

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"sbx/internal/dirs/dirstest"
	"sbx/spec"
)

// TestLife distinguishes a running process, one that has ended, another one with the same pid, and
// one about which nothing is known.
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
		st, start := stateOf(strconv.Itoa(zombie.Process.Pid))
		zp = Process{zombie.Process.Pid, start, self.BootID, self.Namespace}
		if st == "Z" {
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

func TestLoad(t *testing.T) {
	dirstest.NoLeak(t)
	dir := dirstest.Temp(t)
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
	dirstest.Plant(t, dir, "sbx/runs/20270101T000000.000-00000000/", "sbx/runs/zzz/effective.json")
	for name, want := range map[string]string{
		"last": ids[2], ids[0]: ids[0], "20260101T000001": ids[1], dir + "/sbx/runs/" + ids[0] + "/effective.json": ids[0],
	} {
		b, _, path, err := Load(dir+"/sbx", name)
		if err != nil || !strings.Contains(string(b), want) || !strings.Contains(path, want) {
			t.Errorf("%s: %s, %v", name, path, err)
		}
	}
	for _, name := range []string{"nothing", dir, dir + "/no.json", "20270101", ".."} {
		if _, _, _, err := Load(dir+"/sbx", name); err == nil {
			t.Errorf("%s was loaded", name)
		}
	}
	if _, _, _, err := Load(dir+"/empty", "last"); err == nil {
		t.Error("the last of nothing was loaded")
	}
}

// A record is only loaded from a directory that is sbx's own: not a link, not writable for others,
// and with the record of that very run.
func TestLoadOwnRecordsAlone(t *testing.T) {
	dir := dirstest.Temp(t)
	s := open(t, dir, "")
	if err := s.Close(Record{ID: s.id}); err != nil {
		t.Fatal(err)
	}
	runs := dir + "/sbx/runs/"
	const later = "99990101T000000.000-00000000"
	for _, c := range []struct {
		name, want string
		make       func() error
	}{
		{"a link to a directory", "link", func() error { return os.Symlink(runs+s.id, runs+later) }},
		{"another run's record", "another run", func() error { return os.CopyFS(runs+later, os.DirFS(runs+s.id)) }},
		{"a link to a record", "link", func() error {
			if err := os.Mkdir(runs+later, 0o700); err != nil {
				return err
			}
			return os.Symlink(s.Path(), runs+later+"/effective.json")
		}},
		{"a directory that others write", "others may write", func() error {
			if err := os.Mkdir(runs+later, 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(runs+later+"/effective.json", Record{ID: later}.AppendJSON(nil), 0o600); err != nil {
				return err
			}
			return os.Chmod(runs+later, 0o777)
		}},
	} {
		if err := c.make(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"last", later, "9999"} {
			if _, _, _, err := Load(dir+"/sbx", name); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s by %s: %v", c.name, name, err)
			}
		}
		if c.name == "a directory that others write" { // the control
			if err := os.Chmod(runs+later, 0o700); err != nil {
				t.Fatal(err)
			}
			if _, _, path, err := Load(dir+"/sbx", "last"); err != nil || !strings.Contains(path, later) {
				t.Errorf("%s, %v", path, err)
			}
		}
		if err := os.RemoveAll(runs + later); err != nil {
			t.Fatal(err)
		}
	}
	if _, v, _, err := Load(dir+"/sbx", "last"); err != nil || Text(v.Node.Get("id")) != s.id {
		t.Error(err)
	}
}
