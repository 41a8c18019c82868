package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// Usage is reported while the command runs, with any counter, and the command does not have the
// descriptor.
func TestProgress(t *testing.T) {
	needSandbox(t)
	for _, counter := range []string{"", "ptrace"} {
		b := newBoxElsewhere(t) // whose home is in view
		read, write, err := os.Pipe()
		must(t, err)
		b.args = []string{"--progress", "3"}
		if counter != "" {
			b.args = append(b.args, "--counter", counter)
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		cmd := b.command(ctx, `{"access_mode": "workspace-write"}`, "sh", "-c",
			`/bin/true; sleep 1; /bin/true; /bin/true; sleep 1; ! echo word >&3; ! echo x >$HOME/denied; echo finished`)
		cmd.ExtraFiles = []*os.File{write}
		lines := make(chan []string, 1)
		go func() {
			var all []string
			for s := bufio.NewScanner(read); s.Scan(); {
				all = append(all, s.Text())
			}
			lines <- all
		}()
		r := b.finish(cmd)
		write.Close()
		got := <-lines
		if r.code != 0 || !strings.Contains(r.out, "finished") {
			t.Fatalf("%v", r)
		}
		last, elapsed := -1, -1
		for i, l := range got {
			var u map[string]int
			if err := json.Unmarshal([]byte(l), &u); err != nil {
				t.Fatalf("%q: %v", l, err)
			}
			exit, over := u["exit"]
			if n, there := u["commands_used"]; !there || n < last || n == last && !over || u["elapsed_ms"] < elapsed || over != (i == len(got)-1) || exit != 0 {
				t.Errorf("%q after %d", l, last)
			}
			last, elapsed = u["commands_used"], u["elapsed_ms"]
			if over && counter == "" && u["denials"] != 1 { // ptrace sees no opens
				t.Errorf("the denial is not told: %q", l)
			}
		}
		if len(got) < 3 || last != 5 || elapsed < 2000 || r.rec.whole("commands_used") != 5 {
			t.Errorf("by %q: %q; the record has %d", counter, got, r.rec.whole("commands_used"))
		}
	}
}

// A reader that is slow, or gone, does not delay the command.
func TestProgressStopsNothing(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	read, write, err := os.Pipe()
	must(t, err)
	read.Close()
	defer write.Close()
	b.args = []string{"--progress", "3"}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := b.command(ctx, `{"access_mode": "read-only"}`, "sh", "-c", "/bin/true; sleep 1; /bin/true; sleep 1; echo finished")
	cmd.ExtraFiles = []*os.File{write}
	if r := b.finish(cmd); r.code != 0 || r.out != "finished\n" || r.err != "" {
		t.Errorf("%v", r)
	}
	for _, n := range []string{"1", "x", "-4"} {
		b.args = []string{"--progress=" + n}
		if r := b.run(`{}`, "true"); r.code != 2 {
			t.Errorf("--progress %s: %v", n, r)
		}
	}
	b.args = []string{"--progress", "9"}
	if r := b.run(`{}`, "true"); r.code != 125 || !strings.Contains(r.err, "not open") {
		t.Errorf("%v", r)
	}
}
