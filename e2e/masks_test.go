package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// opened returns the masked directories that a record reports as opened, as "target rule".
func opened(r result) (list []string) {
	for _, v := range r.rec.list("violations") {
		if v.text("action") == "open" {
			list = append(list, strings.TrimSpace(v.text("target")+" "+v.text("rule")))
		}
	}
	slices.Sort(list)
	return list
}

const specHides = `{"access_mode":"workspace-write","filesystem":{"hide":["one","two","three"]}}`

// A program that opens a hidden directory is reported, with the line that hides it; one that asks
// for its status or for a name in it is not.
func TestOpenedMasksAreViolations(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		for _, d := range []string{"one", "two", "three", "open"} {
			b.write(b.ws+"/"+d+"/file", "content\n")
		}
		const wait = "sleep 0.5; " // the watch begins after 200 ms
		asks := "test -d one; ! cat two/file 2>/dev/null; stat three >/dev/null; cd open; ls >/dev/null; cd ..; "
		if got := opened(b.sh(specHides, wait+asks+"echo end").ended()); len(got) != 0 {
			t.Errorf("without an open: %q", got)
		}
		r := b.sh(specHides, wait+asks+"ls one three >/dev/null; echo end").ended()
		if got, want := fmt.Sprint(opened(r)), fmt.Sprint([]string{b.ws + "/one filesystem.hide[0]", b.ws + "/three filesystem.hide[2]"}); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if strings.Count(r.err, "is hidden, and looked empty") != 1 {
			t.Errorf("stderr: %s", r.err)
		}
		b.args = append(b.args, "--violations", "off")
		if got := opened(b.sh(specHides, wait+"ls one two three >/dev/null; echo end").ended()); len(got) != 0 {
			t.Errorf("with --violations off: %q", got)
		}
	})
}

// Attempts in a hidden directory or on a hidden file are denied because the mount is read-only, for
// any user, and reported with the line that hides it.
func TestWritesIntoMasksAreViolations(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.write(b.ws+"/one/file", "content\n")
		b.write(b.ws+"/two", "content\n")
		script := "mkdir one/new; echo more >one/further; echo more >>two; echo end"
		r := b.sh(`{"access_mode":"workspace-write","filesystem":{"hide":["one","two"]}}`, script).ended()
		var got []string
		for _, v := range r.rec.list("violations") {
			got = append(got, strings.TrimPrefix(v.text("target"), b.ws+"/")+" "+v.text("action")+" "+v.text("rule"))
		}
		slices.Sort(got)
		want := []string{"one/further create filesystem.hide[0]", "one/new create a directory filesystem.hide[0]", "two open for writing filesystem.hide[1]"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q: %v", got, want, r)
		}
		b.holds(b.ws+"/two", "content\n")
		if r := b.sh(specWW, script).ended(); len(r.rec.list("violations")) != 0 {
			t.Errorf("the control, nothing hidden: %v", r)
		}
		b.holds(b.ws+"/two", "content\nmore\n")
	})
}

// A walk over many of them does not displace other reports, and one that is opened again and again
// does not keep the supervisor busy.
func TestOpenedMasksAreBounded(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf(`"d%d"`, i))
		b.write(fmt.Sprintf("%s/d%d/file", b.ws, i), "content\n")
	}
	spec := `{"access_mode":"workspace-write","filesystem":{"hide":[` + strings.Join(names, ",") + `]}}`
	r := b.sh(spec, "sleep 0.5; find . >/dev/null; i=0; while [ $i -lt 3000 ]; do cd d0; : *; cd ..; i=$((i+1)); done; echo end").ended()
	if got := len(opened(r)); got != 20 || fmt.Sprint(r.rec["violations_omitted"]) != "10" {
		t.Errorf("%d are listed, %v left out: %v", got, r.rec["violations_omitted"], r.rec["violations"])
	}
	for _, v := range r.rec.list("violations") {
		if n := v.whole("count"); n > 1000 {
			t.Errorf("%v", v)
		}
	}
}

// A directory that the host replaced is masked again, and reported as before.
func TestOpenedMaskOfARenewal(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	for _, d := range []string{"one", "two", "three"} {
		b.write(b.ws+"/"+d+"/file", "content\n")
	}
	k := b.talk(specHides)
	k.settled()
	must(t, os.Rename(b.ws+"/two", b.ws+"/was"))
	b.write(b.ws+"/two/file", "content\n")
	k.becomes("grep -c '/two ' /proc/self/mountinfo", "1") // to look at the directory would be an open
	if got := k.ask("ls two"); got != "" {
		t.Errorf("the mask is not there again: %q", got)
	}
	k.ends()
	rec, err := readRecord(b.rec)
	must(t, err)
	r := result{t: t, rec: rec}
	if got, want := fmt.Sprint(opened(r)), fmt.Sprint([]string{b.ws + "/two filesystem.hide[1]"}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
