package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const stream = `
{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/x"}
{"Action":"pass","Package":"p","Test":"TestA/x"}
{"Action":"run","Package":"p","Test":"TestA/y"}
{"Action":"output","Package":"p","Test":"TestA/y","Output":"    a_test.go:7: no gcc\n"}
{"Action":"output","Package":"p","Test":"TestA/y","Output":"    --- SKIP: TestA/y\n"}
{"Action":"skip","Package":"p","Test":"TestA/y"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"run","Package":"p","Test":"TestB/z"}
{"Action":"fail","Package":"p","Test":"TestB/z"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"run","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p","Elapsed":1}
{"Action":"fail","Package":"q","FailedBuild":"q"}
`

func TestRunCounts(t *testing.T) {
	ta := newTally(io.Discard)
	if err := ta.read(strings.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
	got := ta.run("root")
	want := Run{
		Label:   "root",
		Passed:  []string{"p.TestA/x"},
		Failed:  []string{"p.TestB/z", "p.TestC", "q"}, // TestC never ended, q never built
		Skipped: map[string]string{"p.TestA/y": "no gcc"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestTotal(t *testing.T) {
	skip := func(names ...string) map[string]string {
		m := map[string]string{}
		for _, n := range names {
			m[n] = "why"
		}
		return m
	}
	pass := []string{"p.A"}
	cases := []struct {
		name    string
		runs    []Run
		list    string
		mustRun bool
		ok      bool
		last    string
	}{
		{"passed", []Run{{Label: "a", Passed: pass}}, "", false, true, "1 passed, 0 failed, 0 skipped"},
		{"failed", []Run{{Label: "a", Passed: pass, Failed: []string{"p.B"}, Exit: 1}}, "", false, false, "1 passed, 1 failed, 0 skipped"},
		{"no test", []Run{{Label: "a"}}, "", false, false, "0 passed, 0 failed, 0 skipped"},
		{"exit alone", []Run{{Label: "a", Passed: pass, Exit: 2}}, "", false, false, "1 passed, 1 failed, 0 skipped"},
		{"skipped", []Run{{Label: "a", Passed: pass, Skipped: skip("p.B")}}, "", false, true, "1 passed, 0 failed, 1 skipped"},
		{"skipped by one", []Run{{Label: "a", Passed: pass, Skipped: skip("p.B")}, {Label: "b", Passed: []string{"p.A", "p.B"}}}, "", true, true, "3 passed, 0 failed, 1 skipped"},
		{"skipped by all", []Run{{Label: "a", Passed: pass, Skipped: skip("p.B")}, {Label: "b", Passed: pass, Skipped: skip("p.B")}}, "", true, false, "2 passed, 1 failed, 0 skipped"},
		{"skipped by all that have it", []Run{{Label: "a", Passed: pass, Skipped: skip("p.B/x")}, {Label: "b", Passed: []string{"q.A"}}}, "", true, false, "2 passed, 1 failed, 0 skipped"},
		{"done in part", []Run{{Label: "a", Passed: pass, Skipped: skip("p.B")}, {Label: "b", Passed: []string{"p.B/x"}}}, "", true, true, "2 passed, 0 failed, 1 skipped"},
		{"listed", []Run{{Label: "a", Passed: pass, Skipped: skip("p.B")}}, "p.B needs arm64\n", true, true, "1 passed, 0 failed, 1 skipped"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var paths []string
			for _, r := range c.runs {
				b, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				p := filepath.Join(dir, r.Label)
				if err := os.WriteFile(p, b, 0o644); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, p)
			}
			list := filepath.Join(dir, "list")
			if err := os.WriteFile(list, []byte(c.list), 0o644); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			ok, err := total(&out, paths, list, c.mustRun)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := lines[len(lines)-1]; ok != c.ok || last != c.last {
				t.Errorf("ok %v, last line %q; want %v, %q", ok, last, c.ok, c.last)
			}
		})
	}
}

func TestListNeedsReason(t *testing.T) {
	p := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(p, []byte("# c\np.A\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readList(p); err == nil {
		t.Error("a name without a reason was taken")
	}
}

func TestHowFarItIs(t *testing.T) {
	var out strings.Builder
	tl := newTally(&out)
	tl.label, tl.of = "root", 9
	tl.lastLine = tl.lastLine.Add(-2 * pause)
	if err := tl.read(strings.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "root: 1 of 9: p.TestA\n") || strings.Contains(got, "TestA/x") || !strings.Contains(got, " of 9)\n") {
		t.Errorf("it shows %q", got)
	}
}
