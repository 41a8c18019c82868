package audit

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs/dirstest"
)

// runsDir is a state directory with runs.
type runsDir struct {
	testing.TB
	state string
}

func newRunsDir(t testing.TB) runsDir {
	r := runsDir{t, dirstest.Temp(t)}
	r.ok(MakeState(r.state))
	return r
}

func (r runsDir) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// id returns the id of run n, which began a minute after the one before.
func (r runsDir) id(n int) string {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
	return fmt.Sprintf("%s-%08x", at.Format(idLayout), n)
}

func (r runsDir) path(n int) string { return r.state + "/runs/" + r.id(n) }

// add makes run n, with a record of the state "exited" that change may change.
func (r runsDir) add(n int, change func(*Record)) string {
	r.Helper()
	r.ok(os.Mkdir(r.path(n), 0o700))
	rec := Record{ID: r.id(n), Supervisor: Self(), StartedAt: time.Unix(1, 0), EndedAt: time.Unix(2, 0)}
	if change != nil {
		change(&rec)
	}
	b := rec.AppendJSON(nil)
	r.ok(os.WriteFile(r.path(n)+"/"+effectiveName, b, 0o600))
	r.ok(os.WriteFile(r.path(n)+"/"+launchName, b, 0o600))
	return r.path(n)
}

// there returns the numbers of the runs whose directory exists.
func (r runsDir) there(upTo int) (all []int) {
	for n := range upTo {
		if dirstest.Exists(r.path(n)) {
			all = append(all, n)
		}
	}
	return all
}

func TestPruneRemovesWhatHasEndedAlone(t *testing.T) {
	r := newRunsDir(t)
	outside := dirstest.Temp(t)
	dirstest.Plant(t, outside, effectiveName, "precious/file")
	r.add(0, nil)
	swept := r.add(1, nil) + "/" + SweptDir
	dirstest.Plant(t, swept, "1-.git/hooks/x", "2-.git/shut/y")
	r.ok(os.Symlink(outside, swept+"/3-link"))
	r.ok(os.Chmod(swept+"/2-.git/shut", 0))
	r.add(2, func(rec *Record) { rec.EndedAt = time.Time{} })                               // still running: its supervisor is this process
	r.add(3, func(rec *Record) { rec.EndedAt = time.Time{}; rec.Supervisor.Start.Value-- }) // lost
	r.add(4, func(rec *Record) { rec.EndedAt = time.Time{}; rec.Supervisor.Namespace.Value++ })
	locked, err := os.Open(r.add(5, nil))
	r.ok(err)
	defer locked.Close()
	r.ok(unix.Flock(int(locked.Fd()), unix.LOCK_EX))
	r.ok(os.Mkdir(r.path(6), 0o700)) // its record is not written yet
	r.ok(os.Symlink(outside, r.path(7)))
	dirstest.Plant(t, r.add(8, nil), "notes")
	r.add(9, func(rec *Record) { rec.ID = r.id(0) })
	r.ok(os.WriteFile(r.add(10, nil)+"/"+effectiveName, []byte("{"), 0o600))
	r.ok(os.Chmod(r.add(11, nil), 0o777))
	dirstest.Plant(t, r.add(12, nil), tempPrefix+"0123abcd")
	dirstest.Plant(t, r.state+"/runs", "notes/file", "20260101T000000.000-0123456/file", "20260101T000000.000-01234567/file")
	r.add(13, nil)
	r.add(14, nil) // the newest two are kept

	left := map[string]string{}
	would := 0
	old := Old{Keep: 2}
	r.ok(Prune(r.state, old, true, func(p Pruned) {
		if p.Left == nil {
			would++
		}
	}))
	if would != 4 || len(r.there(15)) != 15 {
		t.Errorf("control: of %d a dry run would remove %d", len(r.there(15)), would)
	}
	r.ok(Prune(r.state, old, false, func(p Pruned) {
		if p.Left != nil {
			left[p.ID] = p.Left.Error()
		}
	}))
	if got, want := r.there(15), []int{2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14}; !slices.Equal(got, want) {
		t.Errorf("there are %v, want %v; %v", got, want, left)
	}
	for n, why := range map[int]string{2: errInUse.Error(), 4: errInUse.Error(), 5: errInUse.Error(), 6: "no record", 7: "link", 8: "holds notes", 9: "another run", 10: "", 11: "others may write"} {
		if got, is := left[r.id(n)]; !is || !strings.Contains(got, why) {
			t.Errorf("%d is left for %q, want %q", n, got, why)
		}
	}
	for _, path := range []string{outside + "/precious/file", outside + "/" + effectiveName, r.path(8) + "/notes", r.path(8) + "/" + effectiveName,
		r.state + "/runs/notes/file", r.state + "/runs/20260101T000000.000-0123456/file", r.state + "/runs/20260101T000000.000-01234567/file"} {
		if !dirstest.Exists(path) {
			t.Errorf("%s is gone", path)
		}
	}
}

// The command chooses the depth, the names and the modes of swept files.
func TestPruneOfWhatACommandMade(t *testing.T) {
	r := newRunsDir(t)
	swept := r.add(0, nil) + "/" + SweptDir
	dirstest.Plant(t, swept, "1-.git/raised-1/raised-1", "1-.git/shut/x/y", "2-.git/z", "raised-1", "raised-3/x")
	for _, name := range []string{"1-.git", "2-.git"} {
		unix.Close(dirstest.Deepen(t, swept+"/"+name, "d", dirstest.Levels()))
	}
	for _, shut := range []string{"1-.git/shut/x", "1-.git/shut", "2-.git"} {
		r.ok(os.Chmod(swept+"/"+shut, 0o500))
	}
	r.ok(Prune(r.state, Old{}, false, func(p Pruned) {
		if p.Left != nil {
			t.Error(p.Left)
		}
	}))
	if got := r.there(1); len(got) != 0 {
		t.Errorf("there are %v", got)
	}
}

func TestPruneByAge(t *testing.T) {
	r := newRunsDir(t)
	for n := range 5 {
		r.add(n, nil)
	}
	before := time.Date(2026, 1, 1, 0, 2, 0, 0, time.UTC)
	r.ok(Prune(r.state, Old{Before: before}, false, func(Pruned) {}))
	if got := r.there(5); !slices.Equal(got, []int{2, 3, 4}) {
		t.Errorf("there are %v", got)
	}
}

// Nothing is removed from a directory of runs that is a link or belongs to another user.
func TestPruneOfAnothersDir(t *testing.T) {
	r := newRunsDir(t)
	r.add(0, nil)
	elsewhere := dirstest.Temp(t)
	r.ok(os.Symlink(r.state+"/runs", elsewhere+"/runs"))
	if err := Prune(elsewhere, Old{}, false, func(Pruned) {}); err == nil || len(r.there(1)) != 1 {
		t.Errorf("%v, there are %v", err, r.there(1))
	}
	if os.Getuid() == 0 {
		r.ok(os.Chown(r.state+"/runs", 1, 1))
		if err := Prune(r.state, Old{}, false, func(Pruned) {}); err == nil || len(r.there(1)) != 1 {
			t.Errorf("another's: %v, there are %v", err, r.there(1))
		}
		r.ok(os.Chown(r.state+"/runs", 0, 0))
	}
	r.ok(Prune(r.state, Old{}, false, func(Pruned) {}))
	if len(r.there(1)) != 0 {
		t.Error("control: the caller's own is left")
	}
}

func TestPruneTwiceAtOnce(t *testing.T) {
	r := newRunsDir(t)
	const runs = 100
	for n := range runs {
		dirstest.Plant(t, r.add(n, nil)+"/"+SweptDir, "1-.git/config")
	}
	var mu sync.Mutex
	removed := map[string]int{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			err := Prune(r.state, Old{}, false, func(p Pruned) {
				mu.Lock()
				defer mu.Unlock()
				if p.Left == nil {
					removed[p.ID]++
				} else if !p.InUse() {
					t.Errorf("%s: %v", p.ID, p.Left)
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for id, n := range removed {
		if n != 1 {
			t.Errorf("%s was removed %d times", id, n)
		}
	}
	if len(removed) != runs || len(r.there(runs)) != 0 {
		t.Errorf("%d were removed, %d are there", len(removed), len(r.there(runs)))
	}
}

// One run in everySo removes the excess. Runs that still run, or contain swept files, stay.
func TestBound(t *testing.T) {
	r := newRunsDir(t)
	const looks = (usualRuns/everySo + 1) * everySo
	dirstest.Plant(t, r.add(0, nil)+"/"+SweptDir, "1-.git/config")
	r.add(1, func(rec *Record) { rec.EndedAt = time.Time{} })
	for n := 2; n < looks-1; n++ {
		r.add(n, nil)
	}
	var st unix.Stat_t
	r.ok(unix.Stat(r.state+"/runs", &st))
	last := r.id(looks - 1)
	if st.Nlink <= 2 { // the file system does not count directories, so the id decides
		last = last[:len(idLayout)+1] + "00000040"
	} else {
		Bound(r.state, last)
		if n := len(r.there(looks)); n != looks-1 {
			t.Errorf("control: one fewer than are looked at, and %d are there", n)
		}
	}
	r.add(looks-1, nil)
	Bound(r.state, "last")
	if n := len(r.there(looks)); n != looks {
		t.Errorf("control: no run's id, and %d are there", n)
	}
	Bound(r.state, last)
	got := r.there(looks)
	if want := usualRuns + 2; len(got) != want || got[0] != 0 || got[1] != 1 || got[2] != looks-usualRuns {
		t.Errorf("%d are there, the oldest %v; want %d", len(got), got[:min(len(got), 3)], want)
	}
	if !dirstest.Exists(r.path(0)+"/"+SweptDir+"/1-.git/config") || !dirstest.Exists(r.path(0)+"/"+effectiveName) || !dirstest.Exists(r.path(1)+"/"+effectiveName) {
		t.Error("something of a run that stays is gone")
	}
}

func TestLoadByName(t *testing.T) {
	r := newRunsDir(t)
	for n := range 3 {
		r.add(n, nil)
	}
	r.ok(os.Mkdir(r.path(3), 0o700)) // its record is elsewhere
	for name, want := range map[string]int{"last": 2, "-1": 2, "-2": 1, "-3": 0, r.id(1): 1, r.id(1)[:14]: 1, "00000001": 1, "-4": -1, "-0": -1, "2026": -1, "0000": -1, "": -1, "x": -1, "--2": -1} {
		_, v, at, err := Load(r.state, name)
		switch {
		case want < 0 && err == nil:
			t.Errorf("%q: %s", name, at)
		case want >= 0 && (err != nil || Text(v.Node.Get("id")) != r.id(want) || at != r.path(want)+"/"+effectiveName):
			t.Errorf("%q: %s %v, want %s", name, at, err, r.id(want))
		}
	}
}
