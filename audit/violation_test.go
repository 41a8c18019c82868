package audit

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"sbx/wrap"
)

func TestViolationsFold(t *testing.T) {
	var vs Violations
	at := time.Unix(1, 0)
	vs.Add(Violation{Kind: "filesystem", At: at, PID: 7, Action: "open", Target: "/etc/x"})
	vs.Add(Violation{Kind: "filesystem", At: at.Add(time.Hour), PID: 8, Action: "open", Target: "/etc/x", Count: 3})
	vs.Add(Violation{Kind: "filesystem", At: at, Action: "open", Target: "/etc/y"})
	list, omitted := vs.List()
	if len(list) != 2 || omitted != 0 || list[0].Count != 4 || list[1].Count != 1 {
		t.Fatalf("%+v, %d omitted", list, omitted)
	}
	if list[0].PID != 7 || !list[0].At.Equal(at) {
		t.Errorf("the first of the alike did not stay: %+v", list[0])
	}
}

func TestViolationsDifferInEachKey(t *testing.T) {
	var vs Violations
	base := Violation{Kind: "k", Program: "p", Action: "a", Target: "t", Rule: "r", AllowWith: "w"}
	vs.Add(base)
	for _, change := range []func(*Violation){
		func(v *Violation) { v.Kind = "x" }, func(v *Violation) { v.Program = "x" },
		func(v *Violation) { v.Action = "x" }, func(v *Violation) { v.Target = "x" },
		func(v *Violation) { v.Rule = "x" }, func(v *Violation) { v.AllowWith = "x" },
	} {
		v := base
		change(&v)
		vs.Add(v)
	}
	if list, _ := vs.List(); len(list) != 7 {
		t.Errorf("%d lines, want 7", len(list))
	}
}

func TestViolationsAreBounded(t *testing.T) {
	var vs Violations
	long := strings.Repeat("x", 1<<14)
	total := 0
	for i := range 5000 {
		vs.Add(Violation{Kind: "filesystem", Target: strconv.Itoa(i%1000) + long})
		total++
	}
	list, omitted := vs.List()
	counted := omitted
	for _, v := range list {
		counted += v.Count
		if len(v.Target) > maxString+1 {
			t.Fatalf("%d bytes kept", len(v.Target))
		}
	}
	if len(list) != maxViolations || counted != total {
		t.Errorf("%d lines, %d of %d counted", len(list), counted, total)
	}
	b := Record{Violations: vs}.AppendJSON(nil)
	if len(b) > maxViolations*(maxString+200) {
		t.Errorf("%d bytes of record", len(b))
	}
}

func TestViolationLeavesUnseenOut(t *testing.T) {
	w := writer{}
	w.Open('{')
	(&Violation{Kind: "network"}).append(&w)
	w.Close('}')
	if got, want := string(w.B), `{"kind": "network", "count": 1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The advice is found at the end, and only for violations that name an act.
func TestViolationsAreAdvised(t *testing.T) {
	var vs Violations
	vs.Add(Violation{Target: "a", AllowWith: "known"})
	vs.Add(Violation{Target: "b", Act: wrap.Act{Kind: wrap.ToMake, Path: "b"}})
	vs.Advise(func(a wrap.Act) wrap.Advice { return wrap.Advice{Line: "for " + a.Path, Opens: "all"} })
	list, _ := vs.List()
	if list[0].AllowWith != "known" || list[0].Opens != "" || list[1].AllowWith != "for b" || list[1].Opens != "all" {
		t.Errorf("%+v", list)
	}
}
