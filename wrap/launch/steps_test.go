package launch

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sbx/landlock"
	"sbx/spec"
	"sbx/wrap"
)

var update = flag.Bool("update", false, "write testdata/steps anew")

// madeUp plans workspace-write for an ordinary user of a machine that is made
// up, and small.
func madeUp(t *testing.T) *wrap.Plan {
	t.Helper()
	s, err := spec.Decode("spec.json", []byte(workspaceWrite))
	if err != nil {
		t.Fatal(err)
	}
	work := spec.Path{Abs: "/home/u/w", Real: "/home/u/w", Exists: true, IsDir: true}
	r := &spec.Resolved{Spec: s, AccessMode: spec.WorkspaceWrite, Home: "/home/u", WorkingDir: work, Confined: true, Private: true, FileRules: true,
		SideDoors: true, Write: []spec.Path{work}, Network: spec.NetworkNone, Env: []string{"PATH=/usr/bin"}, Syscalls: "default"}
	found := func(path string, kind wrap.Kind) wrap.Found { return wrap.Found{Path: path, Real: path, Kind: kind} }
	h := &wrap.Host{Kernel: wrap.Version{6, 18}, UID: 1000, GID: 1000, LandlockABI: 7, Seccomp: wrap.Answer{State: wrap.Yes}, Home: "/home/u",
		Secrets:   []wrap.Found{found("/home/u/.netrc", wrap.File), found("/home/u/.ssh", wrap.Dir)},
		Devices:   []wrap.Found{found("/dev/null", wrap.Device)},
		Protected: []wrap.Protected{{Path: "/home/u/w/.git", Kind: wrap.Dir, Shared: true}, {Path: "/home/u/w/.git/config", Kind: wrap.File}},
		Paths:     map[string]wrap.Kind{"/tmp": wrap.Dir, "/run": wrap.Dir, "/home/u": wrap.Dir}, Users: []int{1000}}
	h.Rungs[wrap.RungRoot].State = wrap.No
	p, err := wrap.Build(r, h, wrap.Request{Counter: wrap.CounterAuto, Argv: []string{"make", "test"}, Program: wrap.Program{Path: "/usr/bin/make", Real: "/usr/bin/make"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The whole list of a launch, as it prints.
func TestStepsGolden(t *testing.T) {
	plan := madeUp(t)
	stepsGolden(t, plan, "workspace-write.txt")
	plan.Remount = true
	stepsGolden(t, plan, "no-setattr.txt")
	plan = madeUp(t)
	plan.Egress, plan.Lookups = true, false
	stepsGolden(t, plan, "network-allow.txt")
	plan = madeUp(t)
	plan.Doors, plan.FirstPort = true, 80
	stepsGolden(t, plan, "network-listen.txt")
}

func stepsGolden(t *testing.T, plan *wrap.Plan, name string) {
	t.Helper()
	caller := Caller{Ignored: 1 << (unix.SIGHUP - 1), Mask: 1 << (unix.SIGUSR1 - 1), Files: unix.Rlimit{Cur: 1024, Max: 4096}}
	in := Input{Caller: caller, Keep: []int{7}, Sock: 9, Filter: "16 bytes, 2 insns", Own: ""}
	in.Filter = in.Filter[:16]
	programs := Steps(plan, in)
	got := ""
	for _, p := range []struct {
		name  string
		steps []Step
	}{{"opening", programs.Opening}, {"setup", programs.Setup}, {"command", programs.Command}} {
		got += "-- " + p.name + " --\n"
		for i := range p.steps {
			got += p.steps[i].String() + "\n"
		}
	}
	file := filepath.Join("testdata", "steps", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\nwrite it with: go test ./wrap/launch -run StepsGolden -update, and read it", err)
	}
	was, is := strings.Split(string(b), "\n"), strings.Split(got, "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			t.Fatalf("the steps changed, first in line %d:\n- %s\n+ %s", i+1, strings.Join(was[min(i, len(was)):min(i+3, len(was))], "\n- "),
				strings.Join(is[min(i, len(is)):min(i+3, len(is))], "\n+ "))
		}
	}
}

// No step uses a slot that a skipped step may have left unset.
func TestSlotsAreSetBeforeTheyAreUsed(t *testing.T) {
	plan := madeUp(t)
	slotsAreSet(t, Steps(plan, Input{Sock: 9, Filter: "8 bytes."}))
	plan.Remount = true
	slotsAreSet(t, Steps(plan, Input{Sock: 9, Filter: "8 bytes."}))
	plan.Egress, plan.Lookups = true, false
	slotsAreSet(t, Steps(plan, Input{Sock: 9, Filter: "8 bytes."}))
	plan.Doors = true
	slotsAreSet(t, Steps(plan, Input{Sock: 9, Filter: "8 bytes."}))
}

func slotsAreSet(t *testing.T, programs Programs) {
	t.Helper()
	for name, steps := range map[string][]Step{"opening": programs.Opening, "setup": programs.Setup, "command": programs.Command} {
		if name == "command" { // goes on with the setup's slots
			steps = append(slices.Clone(programs.Opening), steps...)
		}
		if bad := unset(steps); bad != "" {
			t.Errorf("%s: %s", name, bad)
		}
	}
}

// unset returns a step that uses a slot which earlier steps may not have set.
func unset(steps []Step) string {
	set := map[Slot]bool{}
	passed := map[int][]Slot{} // what a step that is passed over may have left unset, by the step behind
	for i := range steps {
		s := &steps[i]
		for _, slot := range passed[i] {
			delete(set, slot)
		}
		if s.Expected != 0 && s.Skip > 0 {
			behind := i + int(s.Skip) + 1
			for _, over := range steps[i:min(behind, len(steps))] {
				if over.Save != 0 {
					passed[behind] = append(passed[behind], over.Save)
				}
			}
		}
		for _, a := range s.Args {
			if a.Kind == ArgSlot && !set[Slot(a.Num)] {
				return "step " + strconv.Itoa(i) + " uses a slot that may hold nothing: " + s.String()
			}
		}
		if s.Patch != 0 && !set[s.Patch] {
			return "step " + strconv.Itoa(i) + " writes a slot that may hold nothing: " + s.String()
		}
		if s.Do == DoCall && s.Call == unix.SYS_CLOSE && s.Args[0].Kind == ArgSlot {
			delete(set, Slot(s.Args[0].Num))
		}
		if s.Save != 0 {
			set[s.Save] = true
		}
	}
	return ""
}

func TestCloseOthers(t *testing.T) {
	for _, row := range []struct {
		keep []int
		sock int
		want string
	}{
		{nil, 3, "4-"},
		{nil, 9, "3-8 10-"},
		{[]int{3, 4}, 5, "6-"},
		{[]int{5, 3}, 8, "4-4 6-7 9-"},
		{[]int{12}, 4, "3-3 5-11 13-"},
		{[]int{4, 6}, 5, "3-3 7-"},
		{[]int{1000000}, 3, "4-999999 1000001-"},
	} {
		l := &list{}
		l.closeOthers(Input{Keep: row.keep, Sock: row.sock})
		var got []string
		for _, s := range l.steps {
			if s.Call != unix.SYS_CLOSE_RANGE || s.Args[2].Num != unix.CLOSE_RANGE_UNSHARE {
				t.Errorf("%v closes in a table that is shared", s)
			}
			last := strconv.Itoa(int(s.Args[1].Num))
			if s.Args[1].Num == 0xffffffff {
				last = ""
			}
			got = append(got, strconv.Itoa(int(s.Args[0].Num))+"-"+last)
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("keeping %v and %d: %v, want %s", row.keep, row.sock, got, row.want)
		}
	}
}

func TestOverlayPath(t *testing.T) {
	for path, want := range map[string]string{
		"/plain": "/plain", "/a:b": `/a\:b`, "/a,b": `/a\,b`, `/a\b`: `/a\\b`, "/a b\nc": "/a b\nc", `/:,\`: `/\:\,\\`, "": "",
	} {
		if got := overlayPath(path); got != want {
			t.Errorf("%q becomes %q, want %q", path, got, want)
		}
	}
}

func TestMap(t *testing.T) {
	for _, row := range []struct {
		ranges []wrap.IDRange
		want   string
	}{
		{nil, ""},
		{[]wrap.IDRange{{First: 1000, Count: 1}}, "1000 1000 1\n"},
		{[]wrap.IDRange{{First: 0, Count: 1}, {First: 100000, Count: 65536}}, "0 0 1\n100000 100000 65536\n"},
		{[]wrap.IDRange{{First: 0, Count: 1<<32 - 1}}, "0 0 4294967295\n"},
	} {
		if got := Map(row.ranges); got != row.want {
			t.Errorf("%v: %q", row.ranges, got)
		}
	}
}

// capset(2) wants the low halves of the three sets, then the high ones.
func TestCapabilities(t *testing.T) {
	const high = 38 // CAP_PERFMON
	for _, row := range []struct {
		keep    []wrap.Cap
		want    string
		ambient int
	}{
		{nil, words(0, 0, 0), 0},
		{[]wrap.Cap{wrap.CapChown, wrap.CapFowner}, words(9|9<<32, 9, 0), 2},
		{[]wrap.Cap{high}, words(0, 1<<(high-32)<<32, 1<<(high-32)|1<<(high-32)<<32), 1},
	} {
		l := &list{}
		l.capabilities(row.keep, true)
		dropped := map[uintptr]bool{}
		ambient := 0
		at := slices.IndexFunc(l.steps, func(s Step) bool { return s.Call == unix.SYS_CAPSET })
		for i, s := range l.steps {
			switch {
			case s.Call == unix.SYS_PRCTL && s.Args[0].Num == unix.PR_CAPBSET_DROP:
				dropped[s.Args[1].Num] = true
				if i > at || s.Expected != Errno(unix.EINVAL) {
					t.Errorf("%v comes after capset, or does not pass over what a kernel lacks", s)
				}
			case s.Call == unix.SYS_PRCTL && s.Args[0].Num == unix.PR_CAP_AMBIENT:
				ambient++
				if i < at {
					t.Errorf("%v comes before capset", s)
				}
			case s.Call == unix.SYS_CAPSET:
				if s.Args[1].Text != row.want || s.Args[0].Text != words(unix.LINUX_CAPABILITY_VERSION_3) {
					t.Errorf("%v: the sets are % x, want % x", row.keep, s.Args[1].Text, row.want)
				}
			}
		}
		if at < 0 || ambient != row.ambient || len(dropped)+len(row.keep) != lastCap+1 {
			t.Errorf("%v: capset at %d, %d ambient, %d dropped", row.keep, at, ambient, len(dropped))
		}
		for _, c := range row.keep {
			if dropped[uintptr(c)] {
				t.Errorf("%d is kept and dropped", c)
			}
		}
	}
	l := &list{}
	l.capabilities(nil, false)
	if len(l.steps) != 1 || l.steps[0].Call != unix.SYS_CAPSET {
		t.Errorf("without CAP_SETPCAP: %v", l.steps)
	}
}

// A soft operation skips all of its steps and no others.
func TestSoftOperations(t *testing.T) {
	for _, m := range []wrap.Mount{
		{Op: wrap.OpBind, Source: "/a", Target: "/b", Mode: wrap.ModeRO},
		{Op: wrap.OpBind, Source: "/a", Target: "/a", Mode: wrap.ModeRO},
		{Op: wrap.OpPin, Target: "/a"},
		{Op: wrap.OpPlace, Target: "/a", Slot: 1, Mode: wrap.ModeRO},
	} {
		for _, soft := range []bool{false, true} {
			m.Soft = soft
			l := &mountList{}
			l.mounts([]wrap.Mount{{Op: wrap.OpOpen, Source: "/empty", Slot: 1}, m}, nil)
			first := l.steps[1] // the last step closes what OpOpen holds
			if want := len(l.steps) - 3; first.Call != unix.SYS_OPENAT2 || soft && (int(first.Skip) != want || first.Expected != Errno(unix.ENOENT)) || !soft && (first.Expected != 0 || first.Skip != 0) {
				t.Errorf("%v, soft %v: %v, of %d steps", m.Op, soft, first, len(l.steps))
			}
			for _, s := range l.steps[2:] {
				if s.Expected == Errno(unix.ENOENT) {
					t.Errorf("%v passes over what is missing", s)
				}
			}
		}
	}
}

// A profile's filter is loaded last: it may deny calls that the launch makes.
func TestLateFilter(t *testing.T) {
	own, late := strings.Repeat("o", 16), strings.Repeat("l", 24)
	of := func(steps []Step) (at []int, text []string) {
		for i, s := range steps {
			if s.Call == unix.SYS_SECCOMP {
				at, text = append(at, i), append(text, s.Args[2].Text)
			}
		}
		return at, text
	}
	plan := madeUp(t)
	early := Steps(plan, Input{Sock: 9, Filter: own, Own: own})
	at, text := of(early.Setup)
	spawn := slices.IndexFunc(early.Setup, func(s Step) bool { return s.Do == DoSpawn })
	if len(at) != 1 || at[0] > spawn || text[0] != own {
		t.Errorf("the shipped filter is loaded at %v, the spawn is %d", at, spawn)
	}
	if at, _ := of(early.Command); len(at) != 0 {
		t.Errorf("the command loads it once more: %v", at)
	}
	count := strings.Repeat("c", 8)
	p := Steps(plan, Input{Sock: 9, Filter: late, Own: own, Late: true, Count: count})
	if at, text := of(p.Setup); len(at) != 2 || at[0] > spawn || text[0] != count || at[1] < spawn || text[1] != own {
		t.Errorf("pid 1 loads %q at %v, the spawn is %d", text, at, spawn)
	}
	if at, text := of(p.Command); len(at) != 1 || at[0] != len(p.Command)-2 || text[0] != late {
		t.Errorf("the command loads %q at %v of %d", text, at, len(p.Command))
	}
}

// A Landlock rule for a missing path is skipped; the ruleset's structure has the ABI's length.
func TestLandlockSteps(t *testing.T) {
	for abi, size := range map[int]int{1: 8, 4: 16, 6: 24, 10: 24} {
		r := landlock.Ruleset{FS: landlock.FSAll, Scope: landlock.ScopeAll, Rules: []landlock.Rule{{Path: "/a", Allow: landlock.FSRead}, {Path: "/b", Allow: landlock.FSRead}}}
		down, _ := r.Downgrade(abi)
		l := &list{}
		l.landlock(down, abi, false)
		if n := len(l.steps[0].Args[0].Text); n != size || int(l.steps[0].Args[1].Num) != size {
			t.Errorf("ABI %d: the structure has %d bytes", abi, n)
		}
		if s := l.steps[len(l.steps)-2]; s.Name != "landlock_restrict_self" || s.Args[1].Num != 0 {
			t.Errorf("ABI %d: %v", abi, s)
		}
		names := ""
		for _, s := range l.steps {
			names += s.Name + " "
		}
		if names != "landlock_create_ruleset openat landlock_add_rule close openat landlock_add_rule close landlock_restrict_self close " {
			t.Errorf("ABI %d: %s", abi, names)
		}
		if s := l.steps[1]; s.Expected != Errno(unix.ENOENT) || s.Skip != 2 {
			t.Errorf("%v", s)
		}
	}
}

// Landlock logs denials of executed programs only if the plan says so.
func TestLandlockLogsWhereAsked(t *testing.T) {
	for logs, want := range map[bool]uintptr{false: 0, true: landlock.LogNewExec} {
		plan := madeUp(t)
		plan.LandlockLogs = logs
		for _, s := range Steps(plan, Input{Sock: 9, Filter: "8 bytes."}).Setup {
			if s.Name == "landlock_restrict_self" && s.Args[1].Num != want {
				t.Errorf("logs %v: %v", logs, s)
			}
		}
	}
}
