package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// forgedRun sorts after any run of today.
const forgedRun = "99990101T000000.000-f0f0f0f0"

// stateBox is a box whose state directory lies where commands may write: home is the workspace's,
// named is the state directory in the environment, state the real one.
type stateBox struct {
	*box
	named, state string
}

func newStateBox(t *testing.T, home, stateHome string) *stateBox {
	b := newBoxElsewhere(t)
	if home != "" {
		b.home = b.base + home
	}
	b.env = slices.DeleteFunc(b.env, func(kv string) bool {
		return strings.HasPrefix(kv, "XDG_STATE_HOME=") || strings.HasPrefix(kv, "HOME=")
	})
	b.env = append(b.env, "HOME="+b.home)
	s := &stateBox{b, b.home + "/.local/state/sbx", b.home + "/.local/state/sbx"}
	if stateHome != "" {
		b.env = append(b.env, "XDG_STATE_HOME="+b.base+stateHome)
		s.named, s.state = b.base+stateHome+"/sbx", b.base+stateHome+"/sbx"
	}
	return s
}

// exec runs a command with its record in the state directory.
func (s *stateBox) exec(spec string, argv ...string) result {
	s.t.Helper()
	return s.plain(append([]string{sbxPath, "exec", "--spec-json", spec, "--"}, argv...)...)
}

// last returns the id that `sbx show last` prints, "" for none.
func (s *stateBox) last() string {
	s.t.Helper()
	r := s.plain(sbxPath, "show", "--json", "last")
	var v struct{ ID string }
	if r.code == 0 && json.Unmarshal([]byte(r.out), &v) != nil {
		s.t.Errorf("no record: %v", r)
	}
	return v.ID
}

// forge leaves a record in the state directory as the command sees it, at whatever path.
func (s *stateBox) forge(state string) string {
	return `d=` + state + `/runs/` + forgedRun + `; mkdir -p -m 700 $d 2>/dev/null
		echo '{"record_version":1,"id":"` + forgedRun + `","state":"exited"}' 2>/dev/null >$d/effective.json`
}

// outlast waits until a launch is later than something made just now, also by the kernel's coarse
// clock.
func outlast(t *testing.T) {
	t.Helper()
	var made, now unix.Timespec
	must(t, unix.ClockGettime(unix.CLOCK_REALTIME, &made))
	for now.Nano() <= made.Nano() {
		must(t, unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now))
	}
}

// away tries to move away each directory that leads to the state directory, below a top.
func away(top, state string) (attempts []string) {
	for dir := state; len(dir) > len(top); dir = filepath.Dir(dir) {
		attempts = append(attempts, "rename|"+dir+"|"+dir+".away", "exchange|"+dir+"|"+dir+".plain", "rename|"+dir+".away|"+dir)
	}
	return append(attempts, "rename|"+top+"/plain|"+top+"/moved", "rename|"+top+"/moved|"+top+"/plain")
}

// A command may write a directory with the state directory in it, but cannot replace the state
// directory.
func TestStateDirStays(t *testing.T) {
	needSandbox(t)
	const mount = `{"access_mode":"workspace-write","filesystem":{"mounts":[{"label":"all","source":"..","target":"/mnt","mode":"rw"}]}}`
	for _, c := range []struct{ name, home, stateHome, top, inside, spec string }{
		{"home as workspace", "/ws", "", "/ws", "", specWW},
		{"moved beneath the workspace", "", "/ws/a/b", "/ws", "", specWW},
		{"a home that may be written", "", "", "/home", "", `{"access_mode":"workspace-write","filesystem":{"write":["~"]}}`},
		{"a list to write alone", "", "", "/home", "", `{"filesystem":{"write":["~", "."]}}`},
		{"by a mount", "", "/out/a/b", "/out", "/mnt/out", mount},
		{"nothing but a hidden name", "/ws", "", "/ws", "", `{"filesystem":{"hide":["nothing"]}}`},
		{"nothing but no network", "/ws", "", "/ws", "", `{"network":{"mode":"none"}}`},
		{"a root of its own", "/ws", "", "/ws", "", `{"access_mode":"workspace-write","filesystem":{"read":["@system"]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStateBox(t, c.home, c.stateHome)
			top := s.base + c.top
			must(t, os.MkdirAll(top+"/plain", 0o755))
			for dir := s.state; len(dir) > len(top); dir = filepath.Dir(dir) {
				must(t, os.MkdirAll(dir+".plain", 0o755))
			}
			r := s.exec(c.spec, "true")
			first := s.last()
			if r.code != 0 || first == "" {
				t.Fatalf("%v", r)
			}
			inside := top
			if c.inside != "" {
				inside = c.inside
			}
			state := inside + s.state[len(top):]
			attempts := away(inside, state)
			r = s.exec(c.spec, append([]string{s.probe(), "try"}, attempts...)...).ended()
			got := r.lines()
			for i, a := range attempts {
				want := "EBUSY"
				switch {
				case i >= len(attempts)-2:
					want = "ok" // the control: the same next to it
				case i%3 == 2:
					want = "ENOENT" // nothing was moved that could be moved back
				}
				if strings.Fields(got[a])[0] != want {
					t.Errorf("%s: %s, want %s", a, got[a], want)
				}
			}
			second := s.last()
			if second <= first {
				t.Errorf("the last run is %q, after %q", second, first)
			}
			// The command sees no records, and one that it makes is not believed.
			r = s.exec(c.spec, "/bin/sh", "-c", "ls -d "+state+"/runs/* 2>/dev/null; cat "+state+"/runs/*/effective.json 2>/dev/null\n"+s.forge(state)+"\necho end").ended()
			if r.out != "end\n" {
				t.Errorf("the records are seen: %v", r)
			}
			if got := s.last(); got == forgedRun || got <= second {
				t.Errorf("the last run is %q, after %q", got, second)
			}
			// Without a sandbox all of it succeeds.
			r = s.exec(specFull, "/bin/sh", "-c", "cd "+filepath.Dir(s.state)+" && mv sbx away && ls away/runs >/dev/null && echo moved\n"+s.forge(s.named)+"\necho end").ended()
			if r.out != "moved\nend\n" || s.last() != forgedRun {
				t.Errorf("control: the last run is %q: %v", s.last(), r)
			}
		})
	}
}

// If the record goes elsewhere and there is no state directory, sbx makes one, so that the command
// cannot, but only if the command could.
func TestStateDirIsMadeFirst(t *testing.T) {
	needSandbox(t)
	for _, spec := range []string{specWW, `{"filesystem":{"hide":["nothing"]}}`, `{"network":{"mode":"none"}}`} {
		s := newStateBox(t, "/ws", "")
		r := s.run(spec, "/bin/sh", "-c", "mv .local .away; mv .local/state .local/away; "+s.forge(s.named)+"\nmkdir plain && mv plain moved && echo moved; echo end").ended()
		if r.out != "moved\nend\n" || s.last() != "" || strings.Contains(r.err, "would allow it") { // no line of a spec does
			t.Errorf("%s: the last run is %q: %v", spec, s.last(), r)
		}
		s.absent("ws/.away")
	}
	for _, spec := range []string{specRO, specFull} { // the first cannot, and the second restricts nothing
		s := newStateBox(t, "/ws", "")
		s.run(spec, "true")
		s.absent("ws/.local")
	}
	s := newStateBox(t, "/ws", "")
	if s.run(specFull, "/bin/sh", "-c", s.forge(s.named)+"\necho end").ended(); s.last() != forgedRun {
		t.Errorf("control: the last run is %q", s.last())
	}
	// A file in its place stays, and the line says what is not enforced.
	s = newStateBox(t, "/ws", "")
	s.write("ws/.local", "a file\n")
	r := s.run(specWW, "/bin/sh", "-c", "rm -f .local; mv .local away; "+s.forge(s.named)+"\necho end").ended()
	if why := r.rec.reason("record"); s.last() != "" || r.rec.status("record") != "degraded" || !strings.Contains(why, "could not be made") {
		t.Errorf("the last run is %q: %s, %v", s.last(), why, r)
	}
	s.holds("ws/.local", "a file\n")
}

// A link that leads there cannot be a mount point. It can be removed; creating another is denied
// like a protected name, and the line says so.
func TestStateDirBehindALink(t *testing.T) {
	needSandbox(t)
	s := newStateBox(t, "", "/ws/link")
	must(t, os.MkdirAll(s.ws+"/real/deep", 0o755))
	must(t, os.Symlink("real/deep", s.ws+"/link"))
	outlast(t)
	s.exec(specWW, "true")
	first := s.last()
	const script = "ls link/sbx/runs | grep 2; mv real real2; mv real/deep/sbx real/deep/sbx2; rm link; ln -s forged link; mkdir link; mkdir -p forged/sbx/runs; "
	r := s.run(specWW, "/bin/sh", "-c", script+s.forge("forged/sbx")+"\necho end").ended()
	if r.out != "end\n" || first == "" || s.last() == forgedRun {
		t.Errorf("the last run is %q, was %q: %v", s.last(), first, r)
	}
	if why := r.rec.reason("record"); r.rec.status("record") != "degraded" || !strings.Contains(why, s.ws+"/link is a link") {
		t.Error(why)
	}
	s.absent("ws/link")
	if found, _ := filepath.Glob(s.ws + "/real/deep/sbx/runs/" + first + "/effective.json"); len(found) != 1 {
		t.Error("the records were moved")
	}
	must(t, os.Symlink("real/deep", s.ws+"/link"))
	if r = s.run(specFull, "/bin/sh", "-c", script+s.forge("forged/sbx")+"\necho end").ended(); s.last() != forgedRun {
		t.Errorf("control: the last run is %q: %v", s.last(), r)
	}
}

// A record that the user named in the workspace stays where it is, and so do the directories above
// it; a hard link to an old record does not lead to the new one.
func TestNamedRecordStays(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	must(t, os.MkdirAll(b.ws+"/a/b/plain", 0o755))
	must(t, os.Mkdir(b.ws+"/plain", 0o755))
	b.rec = b.ws + "/a/b/rec.json"
	b.run(specWW, "true")
	must(t, os.Link(b.rec, b.ws+"/old.json"))
	attempts := []string{"rename|" + b.ws + "/a|" + b.ws + "/a2", "rename|" + b.ws + "/a/b|" + b.ws + "/a/b2", "exchange|" + b.ws + "/a|" + b.ws + "/plain",
		"rename|" + b.rec + "|" + b.rec + "2", "unlink|" + b.rec, "rename|" + b.ws + "/a/b/plain|" + b.ws + "/a/b/plain2"}
	r := b.run(specWW, append([]string{b.probe(), "try"}, attempts...)...).ended()
	for i, a := range attempts {
		want := []string{"EBUSY", "EBUSY", "EBUSY", "EBUSY", "EBUSY", "ok"}[i]
		if got := r.lines()[a]; strings.Fields(got)[0] != want {
			t.Errorf("%s: %s, want %s", a, got, want)
		}
	}
	r = b.sh(specWW, "echo forged >old.json; cat a/b/rec.json").ended()
	if r.out != "end\n" || r.rec.text("state") != "exited" {
		t.Errorf("%v", r)
	}
	b.holds("ws/old.json", "forged\n")
	if err := unix.Access(b.ws+"/a2", unix.F_OK); err == nil {
		t.Error("it was moved")
	}
}

// The directories above a path that a mount makes read-only in place, and above a hidden path in
// one, stay as well: the next run would find another path there.
func TestWhatIsKeptStaysInItsPlace(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.write("ws/a/b/file", "kept\n")
	must(t, os.MkdirAll(b.out+"/a/b", 0o755))
	const mount = `{"label":"m","source":"../out","target":"/mnt","mode":"rw"}`
	for _, c := range []struct{ dir, with, without string }{
		{b.ws, `{"access_mode":"workspace-write","filesystem":{"mounts":[{"label":"m","source":"a/b","target":"` + b.ws + `/a/b","mode":"ro"}]}}`, specWW},
		{b.ws, `{"filesystem":{"mounts":[{"label":"m","source":"a/b","target":"` + b.ws + `/a/b","mode":"ro"}]}}`, specNone},
		{"/mnt", `{"access_mode":"workspace-write","filesystem":{"mounts":[` + mount + `],"hide":["/mnt/a/b"]}}`, `{"access_mode":"workspace-write","filesystem":{"mounts":[` + mount + `]}}`},
	} {
		attempts := []string{"rename|" + c.dir + "/a|" + c.dir + "/a2", "rename|" + c.dir + "/a2|" + c.dir + "/a"}
		for spec, want := range map[string][]string{c.with: {"EBUSY", "ENOENT"}, c.without: {"ok", "ok"}} {
			got := b.tries(spec, attempts...)
			for i, a := range attempts {
				if strings.Fields(got[a])[0] != want[i] {
					t.Errorf("%s under %s: %s, want %s", a, spec, got[a], want[i])
				}
			}
		}
	}
}
