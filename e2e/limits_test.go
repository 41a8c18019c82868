package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// bounded returns specs with limits, with a sandbox and without.
func bounded(limits string) map[string]string {
	return map[string]string{
		"sandbox": `{"access_mode": "workspace-write", "limits": {` + limits + `}}`,
		"alone":   `{"limits": {` + limits + `}}`,
	}
}

// grouped reports whether this caller can have a control group for memory here, according to sbx
// itself.
func grouped(t *testing.T, b *box) bool {
	t.Helper()
	r := b.run(`{"limits": {"memory": "1GiB"}}`, "true")
	if r.code != 0 && !strings.Contains(r.err, "limits.memory") {
		t.Fatalf("%v", r)
	}
	return r.code == 0
}

// memoryStatus returns the status of a memory limit that a group enforces: version 1 allows sockets
// more.
func memoryStatus(r result) string {
	if strings.Contains(r.rec.by("limits.memory"), "v1") {
		return "degraded"
	}
	return "enforced"
}

// eachBounded runs a test with limits that need a control group, with and without a sandbox. If no
// group can be made it tests the refusal.
func eachBounded(t *testing.T, field, limits string, f func(t *testing.T, b *box, spec string)) {
	for name, spec := range bounded(limits) {
		t.Run(name, func(t *testing.T) {
			if name == "sandbox" {
				needSandbox(t)
			}
			b := newBox(t)
			if grouped(t, b) {
				f(t, b, spec)
			} else {
				b.run(spec, b.probe(), "spin", "1").refused(field)
			}
			noGroupsLeft(t)
		})
	}
}

// groups returns the control groups that supervisors of this user have made, by the pid in their name.
func groups() map[int][]string {
	all := map[int][]string{}
	filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		var st unix.Stat_t
		if f := strings.Split(d.Name(), "-"); len(f) >= 4 && f[0] == "sbx" && unix.Lstat(path, &st) == nil && int(st.Uid) == os.Getuid() {
			pid, _ := strconv.Atoi(f[2])
			all[pid] = append(all[pid], path)
			return filepath.SkipDir
		}
		return nil
	})
	return all
}

// groupsBefore are those that existed on this host before the tests.
var groupsBefore = sync.OnceValue(groups)

// noGroupsLeft fails if a supervisor has left a group. Other runs may be in progress on this host.
func noGroupsLeft(t *testing.T) {
	t.Helper()
	before := groupsBefore()
	eventually(t, "no control group of a supervisor that has ended is left", func() bool {
		for pid := range groups() {
			if before[pid] == nil && unix.Kill(pid, 0) == unix.ESRCH {
				return false
			}
		}
		return true
	})
}

// violation returns the record's first violation of kind limit.
func (r record) violation() record {
	for _, v := range r.list("violations") {
		if v.text("kind") == "limit" {
			return v
		}
	}
	return nil
}

func (r result) breaks(rule string) {
	r.t.Helper()
	v := r.rec.violation()
	if v.text("rule") != rule || v.text("allow_with") == "" || v.text("action") == "" {
		r.t.Errorf("the violation is %v, want one of %q; %v", v, rule, r)
	}
	for _, k := range r.rec["observed_kinds"].([]any) {
		if k == "limit" {
			return
		}
	}
	r.t.Errorf("observed_kinds is %v", r.rec["observed_kinds"])
}

func TestMemoryHog(t *testing.T) {
	eachBounded(t, "limits.memory", `"memory": "32MiB", "timeout": "10s"`, func(t *testing.T, b *box, spec string) {
		b.plain(b.probe(), "hog", "80").ended() // the control
		r := b.run(spec, b.probe(), "hog", "80")
		if r.code != 137 || strings.Contains(r.out, "end") || r.rec.text("exit", "ended_by") != "memory" || r.rec.at("exit", "signal") != 9.0 {
			t.Errorf("%v", r)
		}
		r.breaks("limits.memory: 32MiB")
		r.rec.hasStatus(t, "limits.memory", memoryStatus(r))
		if peak, _ := r.rec.at("usage", "memory_peak_bytes").(float64); peak < 16<<20 || peak > 33<<20 { // the kernel sometimes allows a page more
			t.Errorf("the peak is %v", r.rec.at("usage"))
		}
		b.run(spec, b.probe(), "hog", "8").ended()
	})
}

// A descendant's memory counts, and so do files in a tmpfs. A shell that continues after its child
// ended is what ends the run.
func TestMemoryOfTheTree(t *testing.T) {
	eachBounded(t, "limits.memory", `"memory": "32MiB", "timeout": "10s"`, func(t *testing.T, b *box, spec string) {
		r := b.sh(spec, b.probe()+" hog 80; echo survived")
		r.ended()
		if !strings.Contains(r.out, "survived") || strings.Contains(r.out, "has") || r.rec.text("exit", "ended_by") != "command" {
			t.Errorf("%v", r)
		}
		r.breaks("limits.memory: 32MiB")
		if !strings.Contains(spec, "access_mode") {
			return
		}
		r = b.run(spec, b.probe(), "fill", "/dev/shm/x", "65536")
		if n, _ := strconv.Atoi(r.lines()["wrote"]); r.code == 0 && n >= 32<<20 {
			t.Errorf("a tmpfs has more than the memory: %v", r)
		}
		r = b.sh(strings.Replace(spec, `"32MiB"`, `"96MiB"`, 1), b.probe()+" fill /dev/shm/x 40960 && "+b.probe()+" hog 80; echo over")
		if !strings.Contains(r.out, "wrote\t41943040") || strings.Contains(r.out, "has") {
			t.Errorf("what is in a tmpfs is not counted: %v", r)
		}
	})
}

// The supervisor survives a command that is already too large when it is executed and still shares
// memory with the supervisor.
func TestMemoryTooSmallToStart(t *testing.T) {
	big := strings.Repeat("x", 100_000)
	for _, size := range []string{"1B", "4KiB", "64KiB", "1MiB"} {
		eachBounded(t, "limits.memory", `"memory": "`+size+`"`, func(t *testing.T, b *box, spec string) {
			argv := []string{"/bin/echo"}
			for range 12 {
				argv = append(argv, big)
			}
			r := b.run(spec, argv...)
			by := r.rec.text("exit", "ended_by")
			if r.code != 125 && by != "memory" || r.code == 0 {
				t.Errorf("%v", r.code)
			}
			if r.code == 125 && (by == "command" || !strings.Contains(r.err, "limits.memory")) {
				t.Errorf("%s: the record and stderr do not say why: %v", size, r)
			}
			if state := r.rec.text("state"); state != "refused" && state != "exited" {
				t.Errorf("the record was not finished: %q", state)
			}
		})
	}
}

func TestForks(t *testing.T) {
	for name, spec := range bounded(`"pids": 30, "timeout": "10s"`) {
		t.Run(name, func(t *testing.T) {
			needSandbox(t)
			b := newBox(t)
			if got := b.plain(b.probe(), "forks", "60").ended().lines(); got["forks"] != "ok" {
				t.Fatalf("control: %v", got)
			}
			if !grouped(t, b) && (isRoot() || name == "alone") {
				b.run(spec, b.probe(), "spin", "1").refused("limits.pids")
				return
			}
			r := b.run(spec, b.probe(), "forks", "60").ended()
			if got := r.lines(); got["forks"] != "EAGAIN" || got["all"] != "30" { // threads count, too
				t.Errorf("%v", r)
			}
			r.rec.hasStatus(t, "limits.pids", "enforced")
			if strings.Contains(r.rec.by("limits.pids"), "cgroup") {
				r.breaks("limits.pids: 30")
			}
			// The user's other processes are not counted, nor is pid 1 of the sandbox.
			crowd(t, b, 5)
			if got := b.run(spec, b.probe(), "forks", "60").ended().lines(); got["all"] != "30" {
				t.Errorf("beside other processes of the user: %v", got)
			}
			noGroupsLeft(t)
		})
	}
}

// crowd runs 2 to the power of n processes of this user until the test ends.
func crowd(t *testing.T, b *box, n int) {
	t.Helper()
	path := b.copyProbe(b.ws + "/crowd.bin")
	cmd := exec.Command(path, "bomb", strconv.Itoa(n))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, cmd.Start())
	t.Cleanup(func() {
		unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		cmd.Wait()
	})
	eventually(t, "the crowd is there", func() bool { return len(processesOf(path)) >= 1<<n })
}

// A fork bomb is limited, and the timeout ends it; nothing of it is left.
func TestForkBomb(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	spec := bounded(`"pids": 40, "timeout": "1s"`)["sandbox"]
	if isRoot() && !grouped(t, b) {
		b.run(spec, "true").refused("limits.pids")
		return
	}
	s := b.start(spec, b.copyProbe(b.ws+"/bomb.bin"), "bomb", "9")
	most := 0
	for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		most = max(most, len(processesOf(b.ws+"/bomb.bin")))
	}
	if code := s.wait(); code != 124 {
		t.Errorf("status %d", code)
	}
	if most < 10 || most > 40 {
		t.Errorf("at one time there were %d processes", most)
	}
	if left := processesOf(b.ws + "/bomb.bin"); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	noGroupsLeft(t)
}

// processesOf returns the processes that execute a file.
func processesOf(path string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, e := range all {
		if to, err := os.Readlink(e); err == nil && to == path {
			pid, _ := strconv.Atoi(strings.Split(e, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestSpinner(t *testing.T) {
	eachBounded(t, "limits.cpus", `"cpus": 0.25`, func(t *testing.T, b *box, spec string) {
		used := func(r result) float64 {
			u, _ := r.rec.at("usage", "user_ms").(float64)
			s, _ := r.rec.at("usage", "system_ms").(float64)
			return u + s
		}
		held := used(b.run(spec, b.probe(), "spin", "1000").ended())
		free := 0.0
		for i := 0; i < 5 && free < 1.5*held; i++ { // others may use the processors, too
			free = used(b.run(`{}`, b.probe(), "spin", "1000").ended())
		}
		if held > 450 || free < 1.5*held {
			t.Errorf("in a second it used %v ms, without the limit %v ms", held, free)
		}
	})
}

// The groups that a killed supervisor left are removed by the next run.
func TestLostGroupsAreSwept(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	if !grouped(t, b) {
		t.Skip("this user can have no control group here")
	}
	spec := bounded(`"memory": "64MiB", "pids": 20, "cpus": 1`)["sandbox"]
	s := b.start(spec, "/bin/sh", "-c", "echo ready; read x")
	s.expect("ready")
	lost := s.cmd.Process.Pid
	made := len(groups()[lost])
	if made == 0 {
		t.Fatal("there is no group while it runs")
	}
	must(t, s.cmd.Process.Signal(unix.SIGKILL))
	s.wait()
	if left := len(groups()[lost]); left != made {
		t.Logf("of %d groups %d were left: another run was quicker", made, left)
	}
	other := b.start(spec, "/bin/sh", "-c", "echo ready; read x")
	other.expect("ready")
	eventually(t, "the next run sweeps", func() bool {
		newBox(t).run(spec, "true")
		return len(groups()[lost]) == 0
	})
	if left := len(groups()[other.cmd.Process.Pid]); left != made {
		t.Errorf("of a run that goes on %d groups are left", left)
	}
	other.say("on")
	if code := other.wait(); code != 0 {
		t.Errorf("the run beside it ended with %d", code)
	}
	noGroupsLeft(t)
}

// An ordinary user with a delegated group has limits that a command cannot leave.
func TestDelegatedGroup(t *testing.T) {
	if !isRoot() {
		t.Skip("only root can delegate")
	}
	setpriv := needPrograms(t, "setpriv")
	needSandbox(t)
	b := newBox(t)
	const uid = 65534
	for _, c := range []string{"memory", "pids", "cpu"} {
		dir := "/sys/fs/cgroup/" + c
		if _, err := os.Stat(dir + "/cgroup.procs"); err != nil {
			t.Skip("no version 1 of the " + c + " controller: " + err.Error())
		}
		dir += "/sbx-e2e." + strconv.Itoa(os.Getpid())
		must(t, os.Mkdir(dir, 0o755))
		t.Cleanup(func() { eventually(t, "the group can be removed", func() bool { return unix.Rmdir(dir) == nil }) })
		must(t, os.Chown(dir, uid, uid))
		must(t, os.Chown(dir+"/cgroup.procs", uid, uid))
	}
	for _, dir := range []string{b.base, b.ws, b.home, b.base + "/state"} {
		must(t, os.Chown(dir, uid, uid))
	}
	script := `for c in memory pids cpu; do echo $$ >/sys/fs/cgroup/$c/sbx-e2e.` + strconv.Itoa(os.Getpid()) + `/cgroup.procs || exit 99; done
		exec ` + setpriv + ` --reuid=65534 --regid=65534 --clear-groups -- "$@"`
	as := func(spec string, argv ...string) result {
		os.Remove(b.rec)
		args := append([]string{"-c", script, "sh", sbxPath}, b.execArgs(spec, argv...)...)
		cmd := exec.Command("/bin/sh", args...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = b.ws, b.env, 2*time.Second
		return b.finish(cmd)
	}
	probe := b.probe()
	for name, spec := range bounded(`"memory": "32MiB", "pids": 30, "cpus": 1, "timeout": "10s"`) {
		r := as(spec, probe, "hog", "80")
		if r.code != 137 || r.rec.text("exit", "ended_by") != "memory" {
			t.Errorf("%s: %v", name, r)
		}
		if got := as(spec, probe, "forks", "60").ended().lines(); got["all"] != "30" {
			t.Errorf("%s: %v", name, got)
		}
	}
	// Its own groups are no way out, also without file rules.
	leave := `for f in /sys/fs/cgroup/memory/sbx-e2e.*/cgroup.procs; do (echo $$ >$f) 2>/dev/null && echo left; done; echo end`
	r := as(`{"filesystem": {"hide": ["/srv"]}, "limits": {"memory": "32MiB"}}`, "/bin/sh", "-c", leave).ended()
	if strings.Contains(r.out, "left") {
		t.Errorf("the command left its group: %v", r)
	}
	if r = as(`{"limits": {"memory": "32MiB"}}`, "/bin/sh", "-c", leave).ended(); !strings.Contains(r.out, "left") {
		t.Errorf("control, without a sandbox: %v", r)
	}
	noGroupsLeft(t)
}

// If a limit ends a command, sbx says so, unless it has to be quiet.
func TestLimitsAreSaid(t *testing.T) {
	b := newBox(t)
	needSandbox(t)
	for _, row := range []struct{ limit, script, want string }{
		{`"timeout": "300ms"`, "exec sleep 60", "sbx: limits.timeout: 300ms: the command was ended; limits.timeout: 600ms would allow more\n"},
		{`"file_size": "1KiB"`, "exec head -c 4000 /dev/zero >big", "sbx: limits.file_size: 1KiB: a process that wrote a larger file was ended; limits.file_size: 2KiB would allow more\n"},
		{`"timeout": "60s"`, "exec true", ""},
	} {
		spec := `{"access_mode": "workspace-write", "limits": {` + row.limit + `}}`
		if r := b.run(spec, "/bin/sh", "-c", row.script); r.err != row.want || (r.code == 0) != (row.want == "") {
			t.Errorf("%s: status %d, stderr %q, want %q", row.limit, r.code, r.err, row.want)
		}
		b.args = []string{"-q"}
		if r := b.run(spec, "/bin/sh", "-c", row.script); r.err != "" {
			t.Errorf("%s, quiet: %q", row.limit, r.err)
		}
		b.args = nil
	}
}

// The buffers of sockets count as memory, too.
func TestMemoryOfSockets(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	if !grouped(t, b) {
		b.run(`{"limits": {"memory": "64MiB"}}`, "true").refused("limits.memory")
		return
	}
	held := func(limits string) int {
		r := b.run(`{"network": {"mode": "none"}`+limits+`}`, b.probe(), "stuff", "256", "400").ended()
		n, err := strconv.Atoi(r.lines()["held"])
		must(t, err)
		return n
	}
	if n := held(""); n < 128 {
		lacks(t, "without a limit "+strconv.Itoa(n)+" MiB were held: the control shows nothing")
	}
	if n := held(`, "limits": {"memory": "64MiB"}`); n > 64 {
		t.Errorf("%d MiB are held", n)
	}
	noGroupsLeft(t)
}
