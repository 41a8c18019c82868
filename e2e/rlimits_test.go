package e2e

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestOpenFiles(t *testing.T) {
	for name, spec := range bounded(`"open_files": 40`) {
		t.Run(name, func(t *testing.T) {
			needSandbox(t)
			b := newBox(t)
			if got := b.plain(b.probe(), "open", "60").ended().lines(); got["open"] != "" {
				t.Fatalf("control: %v", got)
			}
			r := b.run(spec, b.probe(), "open", "60").ended()
			if got := r.lines(); got["open"] != "EMFILE" {
				t.Errorf("%v", r)
			}
			// Root without a sandbox may raise it, and the line says so.
			if got := r.lines()["raise"]; (got == "ok") != (mayRaise(t) && name == "alone") {
				t.Errorf("raising it: %s", got)
			}
			if noted := strings.Contains(r.rec.reason("limits.open_files"), "may raise it"); noted != (isRoot() && name == "alone") {
				t.Errorf("the reason is %q", r.rec.reason("limits.open_files"))
			}
			r.rec.hasStatus(t, "limits.open_files", "enforced")
		})
	}
}

// mayRaise reports whether this process has CAP_SYS_RESOURCE.
func mayRaise(t *testing.T) bool {
	t.Helper()
	const resource = 24
	text, err := os.ReadFile("/proc/self/status")
	must(t, err)
	_, caps, _ := strings.Cut(string(text), "CapEff:\t")
	caps, _, _ = strings.Cut(caps, "\n")
	set, err := strconv.ParseUint(caps, 16, 64)
	must(t, err)
	return set&(1<<resource) != 0
}

// A limit grants nothing: the caller's own smaller limit stays.
func TestOpenFilesAboveTheCallers(t *testing.T) {
	b := newBox(t)
	argv := append([]string{b.probe(), "with", "nofile=20:30", "--", sbxPath}, b.execArgs(`{"limits": {"open_files": 5000}}`, "/bin/sh", "-c", "ulimit -Sn; ulimit -Hn; echo end")...)
	if r := b.plain(argv...).ended(); r.out != "20\n30\nend\n" {
		t.Errorf("%v", r)
	}
	argv = append([]string{b.probe(), "with", "nofile=200:300", "--", sbxPath}, b.execArgs(`{"limits": {"open_files": 250}}`, "/bin/sh", "-c", "ulimit -Sn; ulimit -Hn; echo end")...)
	if r := b.plain(argv...).ended(); r.out != "200\n250\nend\n" {
		t.Errorf("%v", r)
	}
}

func TestFileSize(t *testing.T) {
	for name, spec := range bounded(`"file_size": "64KiB"`) {
		t.Run(name, func(t *testing.T) {
			needSandbox(t)
			b := newBox(t)
			if got := b.plain(b.probe(), "fill", b.ws+"/f", "100").ended().lines(); got["wrote"] != "102400" {
				t.Fatalf("control: %v", got)
			}
			r := b.run(spec, "/bin/sh", "-c", "trap '' XFSZ; "+b.probe()+" fill "+b.ws+"/f 100")
			if got := r.ended().lines(); got["fill"] != "EFBIG" || got["wrote"] != "65536" {
				t.Errorf("%v", r)
			}
			r = b.run(spec, "/bin/dd", "if=/dev/zero", "of="+b.ws+"/g", "bs=1024", "count=100")
			if r.rec.at("exit", "signal") != 25.0 || r.code != 128+25 || r.rec.text("exit", "ended_by") != "signal" {
				t.Errorf("%v", r)
			}
			if v := r.rec.violation(); v.text("rule") != "limits.file_size: 64KiB" || v.text("allow_with") != "limits.file_size: 128KiB" {
				t.Errorf("%v", v)
			}
			if info, err := os.Stat(b.ws + "/g"); err != nil || info.Size() != 65536 {
				t.Errorf("%v, %v", info, err)
			}
			r.rec.hasStatus(t, "limits.file_size", "enforced")
		})
	}
}

// The timeout ends a tree that waits, that ignores SIGTERM, that is stopped, and whose command has
// already left its children alone.
func TestTimeout(t *testing.T) {
	for name, spec := range bounded(`"timeout": "300ms"`) {
		for what, c := range map[string]struct{ script, out string }{
			"waits":       {"exec sleep 30", ""},
			"ignores":     {"trap '' TERM; sleep 30 & sleep 30; sleep 30", ""},
			"stands":      {"kill -STOP $$", ""},
			"all stand":   {"sh -c 'kill -STOP $$' & kill -STOP $$", ""},
			"cleans":      {"trap 'echo cleaned; exit 3' TERM; sleep 30 & wait", "cleaned\n"},
			"child is it": {"trap : TERM; sh -c 'trap \"echo inner; exit\" TERM; sleep 30 & wait'; sleep 0.05; exit 0", "inner\n"},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				needSandbox(t)
				b := newBox(t)
				word := "sbxtimeout" + strings.ReplaceAll(name+what, " ", "")
				from := time.Now()
				r := b.run(spec, "/bin/sh", "-c", c.script, word)
				if took := time.Since(from); took < 300*time.Millisecond || took > 15*time.Second {
					t.Errorf("it took %v", took)
				}
				if r.code != 124 || r.out != c.out || r.rec.text("exit", "ended_by") != "timeout" || r.rec.at("exit", "code") != 124.0 {
					t.Errorf("%v", r)
				}
				r.breaks("limits.timeout: 300ms")
				r.rec.hasStatus(t, "limits.timeout", map[string]string{"sandbox": "enforced", "alone": "degraded"}[name])
				if pids := processesOfWord(word); len(pids) > 0 {
					t.Errorf("processes are left: %v", pids)
				}
				if r.rec.at("usage", "max_rss_bytes") == nil {
					t.Errorf("what was used is not known: %v", r.rec["usage"])
				}
			})
		}
	}
}

// processesOfWord returns the processes with a word among their arguments.
func processesOfWord(word string) (pids []string) {
	all, _ := os.ReadDir("/proc")
	for _, d := range all {
		if text, err := os.ReadFile("/proc/" + d.Name() + "/cmdline"); err == nil && strings.Contains(string(text), "\x00"+word+"\x00") {
			pids = append(pids, d.Name())
		}
	}
	return pids
}

// A command that ends in time is not affected, and nothing waits for the timer.
func TestTimeoutInTime(t *testing.T) {
	for name, spec := range bounded(`"timeout": "1h"`) {
		t.Run(name, func(t *testing.T) {
			needSandbox(t)
			b := newBox(t)
			r := b.sh(spec, "true").ended()
			if r.rec.text("exit", "ended_by") != "command" || len(r.rec.list("violations")) != 0 {
				t.Errorf("%v", r)
			}
			if r := b.run(spec, "/bin/sh", "-c", "exit 7"); r.code != 7 {
				t.Errorf("%v", r)
			}
		})
	}
}

// Bytes written to and read from storage are reported, those of a tmpfs are not; values that no
// group reports are absent.
func TestUsage(t *testing.T) {
	needSandbox(t)
	if elsewhere == "" {
		t.Skip("all that this user may write may be a tmpfs")
	}
	b := newBoxElsewhere(t)
	written := func(r result) float64 {
		n, ok := r.rec.at("usage", "written_bytes").(float64)
		if !ok {
			t.Errorf("%v", r.rec["usage"])
		}
		return n
	}
	spec := `{"access_mode": "workspace-write"}`
	r := b.run(spec, b.probe(), "fill", "/tmp/f", "2048").ended()
	if n := written(r); n > 1<<20 {
		t.Errorf("into a tmpfs: %v", n)
	}
	if r.rec.at("usage", "memory_peak_bytes") != nil {
		t.Errorf("without a group: %v", r.rec["usage"])
	}
	r = b.sh(spec, b.probe()+" fill f 2048")
	if n := written(r.ended()); n < 2<<20 || n > 8<<20 {
		t.Errorf("into a file: %v", n)
	}
}

// An inner sandbox relies on the limits that the outer one enforces, and on no others.
func TestNestedLimits(t *testing.T) {
	n := newNest(t)
	inner := `{"access_mode": "workspace-write", "limits": {"pids": 30, "open_files": 50, "timeout": "5s"}}`
	outer := `{"access_mode": "workspace-write", "limits": {"pids": 30}}`
	if isRoot() && !grouped(t, n.box) {
		t.Skip("root has no control group here")
	}
	r, rec := n.run(outer, inner, n.probe()+" forks 60")
	r.ended()
	if rec.by("limits.pids") != "parent" || rec.status("limits.pids") != "enforced" || rec.by("limits.open_files") != "RLIMIT_NOFILE" {
		t.Errorf("%v", rec["enforcement"])
	}
	if r.lines()["forks"] != "EAGAIN" {
		t.Errorf("%v", r)
	}
	r, _ = n.run(outer, `{"access_mode": "workspace-write", "limits": {"timeout": "200ms"}}`, "sleep 20")
	if r.code != 124 {
		t.Errorf("%v", r)
	}
}

// If no group can be made, best_effort makes sbx watch memory and observe processor time, and the
// record says so.
func TestLimitsBestEffort(t *testing.T) {
	needSandbox(t)
	n := newNest(t) // an inner sandbox never has a group
	spec := `{"access_mode": "workspace-write", "limits": {"memory": "48MiB", "cpus": 0.5}, "best_effort": ["limits"]}`
	r, rec := n.run(specWW, spec, "exec "+n.probe()+" hog 8")
	r.ended()
	rec.hasStatus(t, "limits.memory", "degraded")
	rec.hasStatus(t, "limits.cpus", "observed")
	if rec.by("limits.memory") != "the supervisor" || rec.violation() != nil {
		t.Errorf("%v", rec)
	}
	for _, line := range []string{"limits.memory is degraded: ", "limits.cpus is observed: "} {
		if strings.Count(r.err, line) != 1 || !strings.Contains(texts(rec["warnings"]), line) {
			t.Errorf("%q is not told: %v", line, r)
		}
	}
	r, rec = n.run(specWW, spec, "exec "+n.probe()+" hog 80 hold")
	if r.code != 137 || rec.text("exit", "ended_by") != "memory" || rec.violation().text("rule") != "limits.memory: 48MiB" {
		t.Errorf("%v, %v", r, rec)
	}
}

// doctor and check report about limits what exec does.
func TestDoctorTellsOfLimits(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	can := grouped(t, b)
	r := b.plain(sbxPath, "doctor", "--json")
	var said struct {
		Doctor []struct{ Name, State, Detail, Help string }
	}
	must(t, json.Unmarshal([]byte(r.out), &said))
	found := 0
	for _, f := range said.Doctor {
		if !strings.HasPrefix(f.Name, "limits.") {
			continue
		}
		found++
		yes := can || f.Name == "limits.pids" && !isRoot()
		if (f.State == "yes") != yes || f.Detail == "" || (f.Help == "") != yes {
			t.Errorf("%+v, and a group can be had: %v", f, can)
		}
	}
	if found != 3 {
		t.Errorf("%v", r)
	}
	r = b.plain(sbxPath, "check", "--spec-json", `{"access_mode": "read-only", "limits": {"memory": "1GiB", "timeout": "3s"}}`)
	if (r.code == 0) != can || can && !strings.Contains(r.out, "memory cgroup") || !can && !strings.Contains(r.err, "limits.memory") {
		t.Errorf("%v", r)
	}
	noGroupsLeft(t)
}
