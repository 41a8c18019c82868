package e2e

import (
	"os"
	"strings"
	"testing"
)

// --read opens a path in addition to those that are in view anyway. With a spec that has a list,
// and with the job layout, only the flag's path is added. A path of --hide is hidden. Both are
// relative to the current directory, not to the spec's.
func TestFlagsSayWhatIsInView(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	if b.private() {
		t.Skip("no place to write in that is not private inside")
	}
	b.write("home/.netrc", "secret")
	b.write("home/plain", "plain")
	b.write("out/dir/file", "file")
	must(t, os.Mkdir(b.base+"/in", 0o755))
	job := []string{"--input", b.base + "/in"}
	const listed = `{"filesystem":{"read":["@system","."]}}`
	look := "for f in " + b.home + "/.netrc " + b.home + "/plain " + b.out + "/dir/file; do cat $f 2>/dev/null; echo; done"
	for name, c := range map[string]struct {
		spec string
		args []string
		want string
	}{
		"the control":           {specWW, nil, "\nplain\nfile\n"},
		"a secret":              {specWW, []string{"--read", "../home/.netrc"}, "secret\nplain\nfile\n"},
		"a secret of the home":  {specWW, []string{"--read", "~/.netrc"}, "secret\nplain\nfile\n"},
		"no secret":             {specWW, []string{"--read", "../home"}, "\nplain\nfile\n"},
		"hidden":                {specWW, []string{"--hide", "../out/dir"}, "\nplain\n\n"},
		"both":                  {specWW, []string{"--read", "~/.netrc", "--hide", "~/plain"}, "secret\n\nfile\n"},
		"hide goes first":       {specWW, []string{"--read", "~/.netrc", "--hide", "../home/.netrc"}, "\nplain\nfile\n"},
		"a list":                {listed, nil, "\n\n\n"},
		"a list, and one thing": {listed, []string{"--read", "../out/./dir"}, "\n\nfile\n"},
		"a job":                 {specWW, job, "\n\n\n"},
		"a job, and one thing":  {specWW, append(job, "--read", "../home/plain"), "\nplain\n\n"},
	} {
		b.args = c.args
		if r := b.sh(c.spec, look); r.code != 0 || r.out != c.want+"end\n" {
			t.Errorf("%s: want %q: %v", name, c.want, r)
		}
	}
}

// A flag adds to the last spec only: a spec before it and an outer sandbox give no more because of
// a flag. If they have the path themselves, the flag is accepted.
func TestFlagsOpenNothingThatASpecShuts(t *testing.T) {
	n := newNestElsewhere(t)
	n.write("home/.netrc", "secret")
	shut := specWith(specWW, `"max_commands":40,"limits":{"timeout":"1h"},"environment":{"pass":["PATH","HOME"]}`)
	open := specWith(specWW, `"max_commands":400,"limits":{"timeout":"3h"},"environment":{"set":{"MY_TOKEN":"x"}},`+
		`"filesystem":{"read":["/","~/.netrc"],"write":["../out"]},"network":{"allow":["a.example:443"]}`)
	for _, args := range [][]string{{"--write", "../out"}, {"--read", "~/.netrc"}, {"--allow", "a.example:443"}, {"--max-commands", "50"}, {"--timeout", "2h"},
		{"--env", "MY_TOKEN=x"}} {
		chain := func(parent string) result {
			n.args = append([]string{"--best-effort", "network.allow", "--spec-json", "{}"}, args...)
			return n.box.run(parent, "/bin/sh", "-c", "echo ran")
		}
		if r := chain(shut); r.code != 125 || r.out != "" || !strings.Contains(r.err, "("+args[0]+")") {
			t.Errorf("%q under a spec: %v", args, r)
		}
		if r := chain(open); r.code != 0 || r.out != "ran\n" {
			t.Errorf("%q, the control: %v", args, r)
		}
		n.args = nil
		r := n.box.run(shut, "/bin/sh", "-c", `"$@"; echo "status $?"`, "sh", n.inner, "exec", args[0], args[1], "--", "/bin/sh", "-c", "echo ran")
		if r.out != "status 125\n" || !strings.Contains(r.err, "("+args[0]+")") {
			t.Errorf("%q in an outer sandbox: %v", args, r)
		}
	}
	r := n.box.run(shut, "/bin/sh", "-c", `"$@"; echo "status $?"`, "sh", n.inner, "exec", "--timeout", "30m", "--", "/bin/sh", "-c", "echo ran")
	if r.out != "ran\nstatus 0\n" {
		t.Errorf("the control in an outer sandbox: %v", r)
	}
}
