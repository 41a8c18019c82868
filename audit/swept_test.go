package audit

import (
	"strconv"
	"strings"
	"testing"
)

func TestSweptAdd(t *testing.T) {
	var s Swept
	for i := range maxMoved + 10 {
		s.Add(Swept{Moved: []Moved{{Path: strconv.Itoa(i)}}, Omitted: 1, Cuts: []string{"c" + strconv.Itoa(i), "same"}, Repositories: []string{"r" + strconv.Itoa(i), "same"}})
	}
	if len(s.Moved) != maxMoved || s.Omitted != maxMoved+10+10 {
		t.Errorf("%d moved, %d omitted", len(s.Moved), s.Omitted)
	}
	if len(s.Cuts) != maxCuts+1 || !strings.Contains(s.Cuts[maxCuts], "not listed") {
		t.Errorf("%d cuts, the last %q", len(s.Cuts), s.Cuts[len(s.Cuts)-1])
	}
	if len(s.Repositories) != maxRepos {
		t.Errorf("%d repositories", len(s.Repositories))
	}
	n := 0
	for _, c := range s.Cuts {
		if c == "same" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("one cut stands there %d times", n)
	}
}
