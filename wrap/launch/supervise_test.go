package launch

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Ended is called once, when no process of the sandbox runs any more: neither the command nor
// its descendants can still write a line.
func TestEnded(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		bare   bool
	}{
		"alone":        {"echo $$ >>log; exit 3", false},
		"zombies left": {"((:) & (:) & :) & i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done; exit 3", false},
		"orphans left": {"for i in 1 2 3; do (while :; do echo x >>log; done) & done; until [ -s log ]; do :; done; exit 3", false},
		"bare":         {"echo $$ >>log; exit 3", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.bare = c.bare
			doc := workspaceWrite
			if c.bare {
				doc = `{"access_mode": "workspace-write", "best_effort": ["*"]}`
			}
			plan := s.plan(doc, "/bin/sh", "-c", c.script)
			before := descriptors(t)
			size := func() (n int64) {
				if fi, err := os.Stat(s.dir + "/log"); err == nil {
					n = fi.Size()
				}
				return n
			}
			var told []Exit
			var exit Exit
			var then, later int64
			onThread(func() {
				pr := running(t, plan)
				if pr == nil {
					return
				}
				hooks := lenient(pr)
				hooks.Ended = func(e Exit) {
					told = append(told, e)
					then = size()
					time.Sleep(20 * time.Millisecond)
					later = size()
					if left, _ := os.ReadFile("/proc/" + strconv.Itoa(pr.Child()) + "/task/" + strconv.Itoa(pr.Child()) + "/children"); strings.TrimSpace(string(left)) != "" {
						t.Errorf("pid 1 still has the children %s", left)
					}
				}
				exit = pr.Supervise(hooks)
			})
			if len(told) != 1 || told[0] != exit || exit.Code != 3 || !exit.Known {
				t.Errorf("told %+v, ended with %+v", told, exit)
			}
			if then != later {
				t.Errorf("%d bytes were written after the end", later-then)
			}
			leaks(t, before)
		})
	}
}
