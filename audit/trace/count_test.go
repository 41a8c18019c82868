package trace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sbx/spec"
)

var (
	called    = regexp.MustCompile(`(?m)^\d+ +exec(ve|veat)\(`)
	succeeded = regexp.MustCompile(`(?m)exec.*\) += 0$`)
)

// truth returns what strace sees a command start, without the command itself: how many execs were
// tried and how many succeeded.
func truth(t *testing.T, argv []string) (tried, ran int, stdout string) {
	t.Helper()
	strace := need(t, "strace")
	dir := workspace(t)
	to := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command("timeout", append([]string{"-s", "KILL", "100", strace, "-f", "-qq", "-s", "0", "--seccomp-bpf", "-e", "trace=execve,execveat", "-e", "signal=none", "-o", to}, argv...)...)
	cmd.Dir = dir
	out, _ := cmd.Output()
	text, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	tried, ran = len(called.FindAllIndex(text, -1)), len(succeeded.FindAllIndex(text, -1))
	if ran == 0 {
		t.Fatalf("strace %v: nothing ran:\n%s", argv, tail(string(text)))
	}
	return tried - 1, ran - 1, string(out)
}

// Every way to start a program counts as in strace, failures included, and the command prints the
// same.
func TestCountsAreThoseOfStrace(t *testing.T) {
	exercise := program(t, "exercise")
	for name, argv := range map[string][]string{
		"true":               {"true"},
		"search":             {"env", "PATH=/a:/b:/usr/nowhere:/bin", "true"},
		"shell":              {"sh", "-c", "true; /bin/true; /bin/true; exec /bin/echo last"},
		"shell search":       {"sh", "-c", "PATH=/a:/b:/bin; export PATH; env true; nosuchprogram; ./nope; ./data; /etc; true"},
		"script":             {"./script"},
		"script of a script": {"sh", "-c", "./chain; ./env; ./script"},
		"no shebang":         {"sh", "-c", "./plain; env ./plain; true"},
		"bad files":          {"sh", "-c", "./badint; ./dangling; ./loop; ./data; .; ./link; true"},
		"xargs":              {"sh", "-c", "seq 30 | xargs -n1 -P4 /bin/true"},
		"pipes":              {"sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo x | cat | sed s/x/y/ | sort; done"},
		"by descriptor":      {exercise, "descriptors"},
		"by path":            {exercise, "paths"},
		"spawn and vfork":    {exercise, "storm", "300"},
		"make":               {"make", "-s", "-j8", "all"},
		"compiler":           {"sh", "-c", "echo 'int main(){return 0;}' >a.c && gcc a.c -o a.out && ./a.out"},
		"in the background":  {"sh", "-c", "(/bin/true; sleep 0.05; /bin/true) & wait; /bin/true"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(argv[0], "/") {
				need(t, argv[0])
			}
			same(t, argv)
		})
	}
}

// same compares a job with what strace sees of it.
func same(t *testing.T, argv []string) {
	t.Helper()
	tried, ran, out := truth(t, argv)
	o, got := run(t, job{Argv: argv, Linger: true})
	c := o.Commands
	if c.Started != ran || c.Attempted != tried || c.Refused != 0 || c.By != "ptrace" {
		t.Errorf("counted %d of %d, strace %d of %d (%+v)", c.Started, c.Attempted, ran, tried, c)
	}
	if got != out {
		t.Errorf("it printed %q, under strace %q", tail(got), tail(out))
	}
	t.Logf("%d of %d, %d ms", c.Started, c.Attempted, o.MS)
}

// One program has no loader, the other one needs it.
func TestStaticAndDynamic(t *testing.T) {
	for _, flags := range [][]string{nil, {"-static"}} {
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			p := program(t, "exercise", flags...)
			same(t, []string{"sh", "-c", p + " nothing; " + p + " storm 9"})
		})
	}
}

// Where strace miscounts (it shows an exec by a thread twice or not at all) or is too slow, the
// program counts itself.
func TestCountsAreTheProgramsOwn(t *testing.T) {
	exercise := program(t, "exercise")
	n := 1
	if testing.Short() {
		n = 4
	}
	for name, row := range map[string]struct {
		argv  []string
		extra int // additional programs
	}{
		"parallel":            {[]string{"parallel", "8", strconv.Itoa(500 / n)}, 0},
		"threads":             {[]string{"threads", strconv.Itoa(200 / n)}, 0},
		"signals during exec": {[]string{"alarms", strconv.Itoa(200 / n)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o, out := run(t, job{Argv: append([]string{exercise}, row.argv...)})
			if want := own(t, out); o.Commands.Started != want || want == 0 || o.Status != 0 {
				t.Errorf("counted %d, it says %d (status %d, %+v)", o.Commands.Started, want, o.Status, o.Commands)
			}
			t.Logf("%d in %d ms, %d us in the tracer", o.Commands.Started, o.MS, o.Inner)
		})
	}
}

// own returns the number of "ran N" in a program's output.
func own(t *testing.T, out string) int {
	t.Helper()
	_, after, found := strings.Cut(out, "ran ")
	word, _, _ := strings.Cut(after, "\n")
	n, err := strconv.Atoi(word)
	if !found || err != nil {
		t.Fatalf("no count in %q", out)
	}
	return n
}

// The budget is exact, whichever process starts the programs. In the control it is large enough for
// all.
func TestBudget(t *testing.T) {
	exercise := program(t, "exercise")
	for max, row := range map[int]struct{ ran, refused int }{0: {0, 400}, 1: {1, 399}, 150: {150, 250}, 400: {400, 0}, 9999: {400, 0}} {
		o, out := run(t, job{Argv: []string{exercise, "parallel", "8", "50"}, Max: spec.Some(max)})
		if n := own(t, out); n != row.ran || o.Commands.Started != row.ran || o.Commands.Refused != row.refused || len(o.Refused) != row.refused {
			t.Errorf("max %d: %d ran, %+v, told of %d", max, n, o.Commands, len(o.Refused))
		}
		for _, p := range o.Refused {
			if p != "/bin/true" {
				t.Fatalf("%q was refused", p)
			}
		}
	}
	o, out := run(t, job{Argv: []string{exercise, "parallel", "8", "50"}, Max: spec.Some(7), OnExceed: spec.RecordOnly})
	if n := own(t, out); n != 400 || o.Commands.Started != 400 || o.Commands.Refused != 0 {
		t.Errorf("recorded only: %d ran, %+v", n, o.Commands)
	}
}

// After the budget is used up, an exec that fails anyway fails with its usual error, and any other
// with EPERM.
func TestRefusalsAreTheKernelsWhereItWouldRefuse(t *testing.T) {
	exercise := program(t, "exercise")
	for _, way := range []string{"paths", "descriptors"} {
		free, control := run(t, job{Argv: []string{exercise, way}})
		o, out := run(t, job{Argv: []string{exercise, way}, Max: spec.Some(0)})
		want := strings.Split(control, "\n")
		refused := 0
		for i, line := range strings.Split(out, "\n") {
			if strings.HasSuffix(want[i], " 0") || strings.HasPrefix(line, "bad arguments") || strings.HasPrefix(line, "folder ") ||
				strings.HasPrefix(line, "no shebang") || strings.HasPrefix(line, "shebang to nothing") || strings.HasPrefix(line, "execveat bad descriptor") {
				want[i] = want[i][:strings.LastIndexByte(want[i], ' ')] + " 1" // EPERM
				refused++
			}
			if line != want[i] {
				t.Errorf("%q, want %q (without a budget the control)", line, want[i])
			}
		}
		if c := o.Commands; c.Started != 0 || c.Refused != refused || c.Attempted > free.Commands.Attempted || refused < 6 {
			t.Errorf("%s: %d refusals seen, %+v, without a budget %+v", way, refused, c, free.Commands)
		}
	}
}

// With kill, the first program beyond the budget ends everything, while an exec that fails anyway
// ends nothing.
func TestKill(t *testing.T) {
	sh := "/bin/true; nosuchprogram; /nonexistent/x; /bin/true; (sleep 60) & /bin/true; echo end"
	o, out := run(t, job{Argv: []string{"sh", "-c", sh}, Max: spec.Some(2), OnExceed: spec.Kill})
	if o.Exceeded < 1 || o.Status != 128+9 || strings.Contains(out, "end") || o.Commands.Started != 2 || o.Commands.Refused < 1 {
		t.Errorf("%+v, printed %q", o, out)
	}
	o, out = run(t, job{Argv: []string{"sh", "-c", strings.Replace(sh, "60", "0.01", 1)}, Max: spec.Some(4), OnExceed: spec.Kill})
	if o.Exceeded != 0 || o.Status != 0 || out != "end\n" || o.Commands.Refused != 0 {
		t.Errorf("the control: %+v, printed %q", o, out)
	}
}

// The names are those of the files as they were requested.
func TestNames(t *testing.T) {
	o, _ := run(t, job{Argv: []string{"sh", "-c", "/bin/true; /bin/true; ./link; ./script; nosuchprogram"}, Linger: true})
	want := map[string]int{"true": 3, "link": 1, "script": 1}
	for _, p := range o.Commands.Programs {
		if want[p.Name] != p.Count {
			t.Errorf("%+v, want %v", p, want)
		}
		delete(want, p.Name)
	}
	if len(want) > 0 {
		t.Errorf("not counted: %v", want)
	}
	o, _ = run(t, job{Argv: []string{program(t, "exercise"), "descriptors"}})
	found := map[string]int{}
	for _, p := range o.Commands.Programs {
		found[p.Name] = p.Count
	}
	if found["memfd:made (deleted)"] != 1 || found["true"] < 3 {
		t.Errorf("%v", found)
	}
}
