package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit/agent"
	"sbx/internal/dirs/dirstest"
	"sbx/spec"
)

// sessions makes a directory of codex's sessions, with the directory of today.
func sessions(t *testing.T) (top, today string) {
	t.Helper()
	top = dirstest.Temp(t)
	today = filepath.Join(top, time.Now().Format("2006/01/02"))
	if err := os.MkdirAll(today, 0o755); err != nil {
		t.Fatal(err)
	}
	return top, today
}

func rollout(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile("agent/testdata/rollout-basic.rollout")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const session = "019aa0b2-session"

// The file is read as it grows, and only the part that was added.
func TestFollow(t *testing.T) {
	before := dirstest.OpenFDs(t)
	top, today := sessions(t)
	text := rollout(t)
	f := Follow(top, time.Now())
	if f.Tick() < 0 {
		t.Fatal("no timer")
	}
	if f.Read("") != 0 || f.Read(session) != 0 || f.Rollout() != nil {
		t.Error("a file that is not there is found")
	}
	file, err := os.Create(today + "/rollout-2026-11-21T20-05-41-" + session + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	last, steps := 0, 0
	for p := text; len(p) > 0; {
		n := min(len(p), 700)
		file.Write(p[:n])
		p = p[n:]
		turns := f.Read(session)
		if turns < last {
			t.Fatalf("%d turns after %d", turns, last)
		}
		if turns > last {
			steps++
		}
		last = turns
	}
	if last != 4 || steps < 2 || f.Rollout() == nil {
		t.Errorf("%d turns in %d steps, want 4", last, steps)
	}
	if n := f.Finish(session); n != 4 {
		t.Errorf("%d turns at the end", n)
	}
	f.Close()
	file.Close()
	if after := dirstest.OpenFDs(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

// Other kinds of files with that name are not read.
func TestFollowIsNotLedAstray(t *testing.T) {
	name := "rollout-x-" + session + ".jsonl"
	elsewhere := func(t *testing.T) string {
		path := filepath.Join(dirstest.Temp(t), name)
		if err := os.WriteFile(path, rollout(t), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for what, c := range map[string]struct {
		session string
		since   time.Duration
		plant   func(t *testing.T, today string) error
		found   bool
	}{
		"the control": {session, 0, func(t *testing.T, today string) error { return os.WriteFile(today+"/"+name, rollout(t), 0o644) }, true},
		"another session": {session, 0, func(t *testing.T, today string) error {
			return os.WriteFile(today+"/rollout-x-other.jsonl", rollout(t), 0o644)
		}, false},
		"the end of its name": {"session", 0, func(t *testing.T, today string) error {
			return os.WriteFile(today+"/rollout-x-asession.jsonl", rollout(t), 0o644)
		}, false},
		"a linked file":   {session, 0, func(t *testing.T, today string) error { return os.Symlink(elsewhere(t), today+"/"+name) }, false},
		"a FIFO":          {session, 0, func(_ *testing.T, today string) error { return unix.Mkfifo(today+"/"+name, 0o644) }, false},
		"a directory":     {session, 0, func(_ *testing.T, today string) error { return os.Mkdir(today+"/"+name, 0o755) }, false},
		"an earlier file": {session, time.Hour, func(t *testing.T, today string) error { return os.WriteFile(today+"/"+name, rollout(t), 0o644) }, false},
		"a linked day": {session, 0, func(t *testing.T, today string) error {
			if err := os.Remove(today); err != nil {
				return err
			}
			return os.Symlink(filepath.Dir(elsewhere(t)), today)
		}, false},
		"a way up":       {"../" + name, 0, func(t *testing.T, today string) error { return os.WriteFile(today+"/"+name, rollout(t), 0o644) }, false},
		"a pattern":      {"*", 0, func(t *testing.T, today string) error { return os.WriteFile(today+"/"+name, rollout(t), 0o644) }, false},
		"nothing at all": {session, 0, func(_ *testing.T, today string) error { return os.RemoveAll(filepath.Dir(today)) }, false},
	} {
		t.Run(what, func(t *testing.T) {
			top, today := sessions(t)
			if err := c.plant(t, today); err != nil {
				t.Fatal(err)
			}
			f := Follow(top, time.Now().Add(c.since))
			defer f.Close()
			turns := f.Read(c.session) // would hang here if it waited for a FIFO
			if found := f.Rollout() != nil; found != c.found || found != (turns == 4) {
				t.Errorf("found %v, %d turns", found, turns)
			}
		})
	}
}

// Of a file that is too long only a part is read, and the summary says so.
func TestFollowLongFile(t *testing.T) {
	top, today := sessions(t)
	path := today + "/rollout-x-" + session + ".jsonl"
	if err := os.WriteFile(path, rollout(t), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, followEnd+followLook+1<<20); err != nil {
		t.Fatal(err)
	}
	f := Follow(top, time.Now())
	defer f.Close()
	if f.Read(session) != 4 {
		t.Error("its begin is not read")
	}
	f.Finish(session)
	s, _ := agent.New(spec.Codex, agent.Hooks{})
	s.Write([]byte(`{"type":"thread.started","thread_id":"` + session + "\"}\n"))
	s.Close()
	s.Supplement(f.Rollout())
	said := ""
	for _, u := range s.Summary().Unseen {
		said += u.What + ": " + u.Why + "\n"
	}
	if !strings.Contains(said, "turns: the rollout file was not read to its end") {
		t.Errorf("it is not said: %s", said)
	}
}

// Close frees the descriptors.
func (f *Follower) Close() {
	for _, fd := range []*int{&f.fd, &f.clock} {
		if *fd >= 0 {
			unix.Close(*fd)
		}
		*fd = -1
	}
}
