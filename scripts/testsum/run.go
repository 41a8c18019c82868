package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sort"
	"strings"
	"time"
)

// Run is the result of one go test run. A name is "package.Test/sub".
type Run struct {
	Label   string
	Passed  []string
	Failed  []string
	Skipped map[string]string // the reason for each name
	Exit    int               // of the command
}

// event is a line of go test -json; see `go doc test2json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// tally collects the events of one run.
type tally struct {
	out     io.Writer
	results map[string]string // name to pass, fail, skip or run
	parents map[string]bool   // names that have subtests
	output  map[string][]string
	build   map[string][]string
	broken  []string // packages that failed without a failed test
	failed  map[string]bool

	label    string
	of       int       // how many tests there are; 0 if unknown
	begun    int       // tests, without their subtests
	lastLine time.Time // when progress was last shown
}

// pause is how long a run may print nothing.
const pause = 30 * time.Second

func newTally(out io.Writer) *tally {
	return &tally{out: out, results: map[string]string{}, parents: map[string]bool{}, output: map[string][]string{}, build: map[string][]string{}, failed: map[string]bool{}, lastLine: time.Now()}
}

// record runs argv, counts its events and saves the Run at path.
func record(label, path string, of int, argv []string) (bool, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	t := newTally(os.Stdout)
	t.label, t.of = label, of
	readErr := t.read(pipe)
	waitErr := cmd.Wait()
	if readErr != nil {
		return false, readErr
	}
	r := t.run(label)
	r.Exit = cmd.ProcessState.ExitCode()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		return false, err
	}
	return waitErr == nil && len(r.Failed) == 0, nil
}

// read reads events until the end. It shows a line that is not an event unchanged.
func (t *tally) read(r io.Reader) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var e event
		if json.Unmarshal(sc.Bytes(), &e) != nil || e.Action == "" {
			fmt.Fprintln(t.out, sc.Text())
			continue
		}
		t.take(e)
	}
	return sc.Err()
}

func (t *tally) take(e event) {
	name := e.Package + "." + e.Test
	switch e.Action {
	case "build-output":
		t.build[e.ImportPath] = append(t.build[e.ImportPath], e.Output)
		return
	case "output":
		t.output[name] = append(t.output[name], e.Output)
		return
	case "run", "pass", "fail", "skip":
	default:
		return
	}
	if e.Test == "" {
		t.endPackage(e)
		return
	}
	t.results[name] = e.Action
	if e.Action == "run" && !strings.Contains(e.Test, "/") {
		t.begun++
		if t.of > 0 && time.Since(t.lastLine) > pause {
			fmt.Fprintf(t.out, "     %s: %d of %d: %s\n", t.label, t.begun, t.of, name)
			t.lastLine = time.Now()
		}
	}
	if i := strings.LastIndex(e.Test, "/"); i >= 0 {
		t.parents[e.Package+"."+e.Test[:i]] = true
	}
	if e.Action == "fail" {
		t.failed[e.Package] = true
		fmt.Fprint(t.out, strings.Join(t.output[name], ""))
	}
	if e.Action == "pass" {
		delete(t.output, name)
	}
}

// endPackage shows the package's line. A package can fail with every test passed: if it does not
// build, or if its TestMain finds a leak.
func (t *tally) endPackage(e event) {
	if e.Action == "fail" {
		fmt.Fprint(t.out, strings.Join(t.build[e.FailedBuild], ""))
		if !t.failed[e.Package] {
			fmt.Fprint(t.out, strings.Join(t.output[e.Package+"."], ""))
			t.broken = append(t.broken, e.Package)
		}
	}
	word := map[string]string{"pass": "ok  ", "fail": "FAIL", "skip": "-   "}[e.Action]
	if t.of > 0 {
		fmt.Fprintf(t.out, "%s %s %.1fs (%s: %d of %d)\n", word, e.Package, e.Elapsed, t.label, t.begun, t.of)
	} else {
		fmt.Fprintf(t.out, "%s %s %.1fs\n", word, e.Package, e.Elapsed)
	}
	t.lastLine = time.Now()
}

// run returns the counts: each test without subtests once; a test with subtests only if it failed
// by itself; a broken package as one failure; a test that began and never ended as failed.
func (t *tally) run(label string) Run {
	r := Run{Label: label, Skipped: map[string]string{}}
	failedSub := map[string]bool{}
	for name, result := range t.results {
		if result == "fail" || result == "run" {
			for i := strings.LastIndex(name, "/"); i >= 0; i = strings.LastIndex(name[:i], "/") {
				failedSub[name[:i]] = true
			}
		}
	}
	for name, result := range t.results {
		switch {
		case result == "fail" || result == "run":
			if !failedSub[name] {
				r.Failed = append(r.Failed, name)
			}
		case t.parents[name]:
		case result == "skip":
			r.Skipped[name] = reason(t.output[name])
		default:
			r.Passed = append(r.Passed, name)
		}
	}
	r.Failed = append(r.Failed, t.broken...)
	sort.Strings(r.Passed)
	sort.Strings(r.Failed)
	return r
}

var logLine = regexp.MustCompile(`^\s*[\w.-]+\.(?:go|js):\d+: (.*)`)

// reason returns the last line that a skipped test logged.
func reason(output []string) string {
	why := "no reason given"
	for _, line := range output {
		if m := logLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			why = m[1]
		}
	}
	return why
}
