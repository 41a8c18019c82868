package life

import (
	"os"
	"strings"
	"testing"

	"sbx/audit"
	"sbx/dispatch"
	"sbx/spec"
)

// A keeper can be out of sight. After another boot its row is lost, in another pid namespace
// nothing is known, and a running one is left alone.
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
			f := s.world.dirOf(l.Path(), "one")
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

// If two processes want to run a dispatch, its directory admits one.
func TestOneDir(t *testing.T) {
	f := jobDir(t.TempDir() + "/ledger/id")
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
	// The job's file is read only as a regular file, and through no link.
	must(t, os.Remove(f.path(jobFile)))
	must(t, os.Symlink("/etc/passwd", f.path(jobFile)))
	if f.read(jobFile) != nil {
		t.Error("a link was followed")
	}
}

// Removing a dispatch's directory while it runs removes its record: the command has run, and the
// information about enforcement is lost. The dispatch was not refused.
func TestDirIsRemoved(t *testing.T) {
	needSandbox(t)
	s := newScene(t)
	l := s.ledger()
	j := s.job(s.task()...)
	j.Output = s.dir + "/out"
	id := s.spawn(j)
	within(t, "the command has begun", func() bool { return s.has("begun") })
	must(t, os.RemoveAll(string(s.world.dirOf(l.Path(), id))))
	var d dispatch.Dispatch
	within(t, "the row has ended", func() (is bool) {
		var err error
		d, err = l.Get(id)
		return err == nil && d.Status.Ended()
	})
	if !s.has("through") || d.Status != dispatch.Failed || d.ExitCode != spec.Some(int64(0)) || record(t, d)["state"] != "lost" || !strings.Contains(d.ErrorMessage.Value, "ended with status 0") {
		t.Errorf("%+v", d)
	}
}

// An sbx exec without a record has refused only if it says so.
func TestUnrecorded(t *testing.T) {
	for _, c := range []struct {
		status spec.Opt[int64]
		said   string
		want   string
	}{
		{spec.Some(int64(125)), "noise\nsbx: cannot make the record: no space\n", "cannot make the record: no space"},
		{spec.Some(int64(125)), "sbx: /x: cannot write the record\nsbx: why: its directory is gone\nsbx: hint: make it\n", "/x: cannot write the record: its directory is gone"},
		{spec.Some(int64(125)), "sbx: hint: make it\n", ""},
		{spec.Some(int64(125)), "", ""},
		{spec.Some(int64(125)), "sbx: earlier\nthe command's own words\n", ""},
		{spec.Some(int64(0)), "sbx: a warning", ""},
		{spec.Some(int64(1)), "", ""},
		{spec.Opt[int64]{}, "sbx: killed", ""},
	} {
		err := refusalIn(c.status, c.said)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %q: %v", c.status, c.said, err)
		}
	}
}
