package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// make passes its job server to a make inside.
func TestMakeKeepsItsJobserver(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "make")
	eachPlace(t, func(t *testing.T, b *box) {
		b.write("ws/Makefile", "all:\n\t+$(BEFORE) $(MAKE) -C sub\n")
		b.write("ws/sub/Makefile", "all: a b c\na b c:\n\t@echo made $@\n")
		make := func(before string) result {
			r := b.plain("make", "-j4", "BEFORE="+before)
			if r.code != 0 || strings.Count(r.out, "made ") != 3 {
				t.Fatalf("%q: %v", before, r)
			}
			return r
		}
		const lost = "jobserver unavailable"
		if r := make(""); strings.Contains(r.err, lost) {
			t.Fatalf("the control: %v", r)
		}
		inside := sbxPath + " exec --effective " + b.rec + " --"
		if r := make(inside); strings.Contains(r.err, lost) {
			t.Errorf("inside: %v", r)
		}
		if r := make(inside + " env -u MAKEFLAGS MAKEFLAGS=--jobserver-auth=77,78"); !strings.Contains(r.err, lost) {
			t.Errorf("make does not say that it has no jobserver: %v", r)
		}
	})
}

// Of the descriptors that MAKEFLAGS names only the two ends of one pipe are passed on.
func TestJobserverIsAPipe(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	file, err := os.Open(b.write("secret", "secret\n"))
	must(t, err)
	defer file.Close()
	var ends [4]*os.File
	for i := 0; i < 4; i += 2 {
		ends[i], ends[i+1], err = os.Pipe()
		must(t, err)
		defer ends[i].Close()
		defer ends[i+1].Close()
	}
	probe := b.probe()
	for _, c := range []struct {
		flags string
		more  int
	}{
		{"MAKEFLAGS= -j4 --jobserver-auth=3,4", 2},
		{"MAKEFLAGS= -j4 --jobserver-fds=3,4 -- A=b", 2},
		{"MAKEFLAGS= -j4 --jobserver-fds=7,7 --jobserver-auth=3,4", 2},
		{"MAKEFLAGS= -j4 --jobserver-auth=3,5", 0}, // ends of two pipes
		{"MAKEFLAGS= -j4 --jobserver-auth=7,7", 0}, // a file
		{"MAKEFLAGS= -j4 --jobserver-auth=3", 0},
		{"MAKEFLAGS= -j4 --jobserver-auth=3,99", 0},
		{"MAKEFLAGS= -j4 --jobserver-auth=fifo:/tmp/x", 0},
		{"MAKEFLAGS= -j4 -- X=--jobserver --jobserver-auth=3,4", 0}, // a variable's text
		{"OTHER=--jobserver-auth=3,4", 0},
	} {
		run := func(argv []string) result {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Dir, cmd.Env = b.ws, append([]string{c.flags}, b.env...)
			cmd.ExtraFiles = append(ends[:], file)
			return b.finish(cmd).ended()
		}
		if control := run([]string{probe, "fds"}).lines(); control["3"] == "" || control["7"] != file.Name() {
			t.Fatalf("the control: %v", control)
		}
		inside := run(append([]string{sbxPath}, b.execArgs(specWW, probe, "fds")...)).lines()
		if len(inside) != 3+c.more || c.more > 0 && (inside["3"] == "" || inside["4"] == "") {
			t.Errorf("%s: %v", c.flags, inside)
		}
	}
}
