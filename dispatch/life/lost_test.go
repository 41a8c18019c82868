package life

import (
	"os"
	"strings"
	"testing"

	"sbx/audit"
	"sbx/dispatch"
	"sbx/spec"
)

// A row whose keeper cannot be seen any more: of another boot it is lost, of
// another pid namespace nobody can tell, and one that runs is left alone.
func TestKeepersOutOfSight(t *testing.T) {
	self := audit.Self()
	rebooted, elsewhere, reused := self, self, self
	rebooted.BootID = "00000000-0000-0000-0000-000000000000"
	elsewhere.Namespace = spec.Some(int64(1))
	reused.Start = spec.Some(self.Start.Value - 1)
	for _, c := range []struct {
		name   string
		keeper audit.Process
		record string
		want   dispatch.Status
		state  string
	}{
		{"of another boot", rebooted, "", dispatch.Failed, "lost"},
		{"its number used again", reused, "", dispatch.Failed, "lost"},
		{"in another pid namespace", elsewhere, "", dispatch.Running, ""},
		{"that runs", self, "", dispatch.Running, ""},
		{"gone, with a record that is finished", rebooted, `{"record_version":1,"state":"exited","exit":{"code":0,"ended_by":"command"},"commands_used":7}`, dispatch.Completed, "exited"},
		{"gone, with a record that nobody finished", rebooted, `{"record_version":1,"state":"running","pid":1,"pid_start":1,"boot_id":"x"}`, dispatch.Failed, "lost"},
		{"gone, with a record that is cut off", rebooted, `{"record_version":1,"sta`, dispatch.Failed, "lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			l := s.ledger()
			must(t, l.Insert(&dispatch.Dispatch{ID: "one", Status: dispatch.Running, PID: spec.Some(int64(c.keeper.PID)), SandboxSpec: spec.Some("{}")}))
			f := s.world.folderOf(l.Path(), "one")
			j := s.job("true")
			j.HasSpec, j.Spec = true, "{}"
			must(t, f.makeWith(&j, c.keeper))
			if c.record != "" {
				must(t, f.write(recordFile, []byte(c.record)))
			}
			d, err := s.world.Poll(l, "one")
			if err != nil || d.Status != c.want || d.SandboxEffective.Set == (c.state == "") {
				t.Fatalf("%+v, %v", d, err)
			}
			if c.state == "" {
				return
			}
			r := record(t, d)
			if r["state"] != c.state || c.state == "exited" && d.Commands.Value != 7 || c.state == "lost" && d.ExitCode.Set {
				t.Errorf("%+v, %v", d, r)
			}
			if c.record == "" && (r["requested"] == nil || r["access_mode"] != nil || !strings.Contains(d.ErrorMessage.Value, "lost")) {
				t.Errorf("%v", r)
			}
		})
	}
}

// Of two who would run a dispatch the folder lets one.
func TestOneFolder(t *testing.T) {
	f := folder(t.TempDir() + "/ledger/id")
	must(t, f.makeWith(&Job{ID: "a"}, audit.Self()))
	if err := f.makeWith(&Job{ID: "b"}, audit.Self()); !isThere(err) {
		t.Errorf("made twice: %v", err)
	}
	if j := f.readJob(); j == nil || j.ID != "a" {
		t.Errorf("%+v", j)
	}
	if left, _ := os.ReadDir(string(f) + "/.."); len(left) != 1 {
		t.Errorf("%v", left)
	}
	// What stands there is read as a file, and through no link.
	must(t, os.Remove(f.path(jobFile)))
	must(t, os.Symlink("/etc/passwd", f.path(jobFile)))
	if f.read(jobFile) != nil {
		t.Error("a link was followed")
	}
}
