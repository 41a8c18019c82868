package e2e

import (
	"os"
	"strings"
	"testing"
	"time"
)

const timeForm = "2006-01-02T15:04:05.000Z"

func (r record) time(t *testing.T, key string) time.Time {
	t.Helper()
	at, err := time.Parse(timeForm, r.text(key))
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return at
}

// The started programs are listed as a tree, with their ends, with any counter.
func TestStarted(t *testing.T) {
	needSandbox(t)
	for _, counter := range []string{"notify", "ptrace"} {
		b := newBox(t)
		b.args = []string{"--counter", counter}
		r := b.sh(specWW, `(/bin/sleep 0.3; /bin/sleep 0.05); sh -c '/bin/sleep 0.1; exec /bin/true'; /nothing; echo finished`)
		if r.code != 0 || !strings.Contains(r.out, "finished") {
			t.Fatalf("%v", r)
		}
		list, command := r.rec.list("started"), r.rec.whole("command", "pid")
		if len(list) != 5 || r.rec.whole("commands_used") != 5 || r.rec["started_omitted"] != nil {
			t.Fatalf("by %s: %v", counter, list)
		}
		inner := list[2].whole("pid")
		for i, want := range []struct {
			program string
			parent  int
			pid     int // 0 for any
			lasts   time.Duration
		}{{"/bin/sleep", command, 0, 300 * time.Millisecond}, {"/bin/sleep", command, 0, 50 * time.Millisecond},
			{"/bin/sh", command, 0, 100 * time.Millisecond}, {"/bin/sleep", inner, 0, 100 * time.Millisecond}, {"/bin/true", command, inner, 0}} {
			p := list[i]
			if program := strings.Replace(p.text("program"), "/usr/bin/", "/bin/", 1); program != want.program || p.whole("parent") != want.parent ||
				want.pid != 0 && p.whole("pid") != want.pid || p.time(t, "ended_at").Sub(p.time(t, "at")) < want.lasts-time.Millisecond {
				t.Errorf("by %s: %v, want %v", counter, p, want)
			}
			if p.time(t, "at").Before(r.rec.time(t, "started_at")) || p.time(t, "ended_at").After(r.rec.time(t, "ended_at")) {
				t.Errorf("by %s: %v is not of this run", counter, p)
			}
		}
		if list[2].text("ended_at") != list[4].text("ended_at") {
			t.Errorf("by %s: one process has two ends: %v", counter, list)
		}
	}
	b := newBox(t)
	b.args = []string{"--counter", "none"}
	if r := b.sh(specWW, "/bin/true"); r.code != 0 || r.rec["started"] != nil || r.rec["opened_to_write"] == nil {
		t.Errorf("nobody counts: %v", r.rec["started"])
	}
}

// The number of programs started and files written does not make a record larger than its bounds.
func TestStartedIsBounded(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	r := b.sh(specWW, `i=0; while [ $i -lt 520 ]; do /bin/true; echo >f$i; i=$((i+1)); done; echo finished`)
	if r.code != 0 || len(r.rec.list("started")) != 500 || r.rec.whole("started_omitted") != 20 ||
		len(r.rec.list("opened_to_write")) != 500 || r.rec.whole("opened_to_write_omitted") != 20 {
		t.Errorf("%v: %d and %v, %d and %v", r.code, len(r.rec.list("started")), r.rec["started_omitted"], len(r.rec.list("opened_to_write")), r.rec["opened_to_write_omitted"])
	}
}

// Exactly the files that an allowed call may have written are listed.
func TestOpenedToWrite(t *testing.T) {
	needSandbox(t)
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	const script = `cat old >/dev/null; echo >>old; echo >>old; echo >made; mv made named; ln named linked; mkdir dir; mv dir dir2; ln -s old soft
		echo >/dev/null; echo >/tmp/private; echo >../denied; mkdir .vscode; echo >` + token + `; truncate -s 0 old; echo finished`
	b := newBoxElsewhere(t) // whose home is in view
	b.write(b.ws+"/old", "")
	r := b.sh(specWW, script)
	if r.code != 0 || !strings.Contains(r.out, "finished") {
		t.Fatalf("%v", r)
	}
	var got []string
	for _, o := range r.rec.list("opened_to_write") {
		count := ""
		if o.whole("count") != 1 {
			count = " " + string(rune('0'+o.whole("count")))
		}
		got = append(got, o.text("action")+" "+strings.TrimPrefix(o.text("path"), b.ws+"/")+count)
	}
	want := "open for writing old 3, create made, rename named, create a link linked, create <redacted>"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %v\nwant %v", strings.Join(got, ", "), want)
	}
	if text, err := os.ReadFile(b.rec); err != nil || strings.Contains(string(text), token) {
		t.Errorf("the token is in the record: %v", err)
	}
	b.args = []string{"--violations", "names"}
	if r := b.sh(specWW, "echo >more"); r.code != 0 || r.rec["opened_to_write"] != nil {
		t.Errorf("nobody looks: %v", r.rec["opened_to_write"])
	}
}
