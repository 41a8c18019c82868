package e2e

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// learn runs a script under sbx learn, which writes the spec to stdout.
func (b *box) learn(script string, flags ...string) result {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := append(append([]string{"learn", "--effective", b.rec}, flags...), "--", "/bin/sh", "-c", script+"\necho end")
	args = append(append(slices.Clone(b.host), sbxPath), args...)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.ws, b.env, 2*time.Second
	os.Remove(b.rec)
	return b.finish(cmd)
}

// learnBox returns a box whose home a learning run can cover with a copy.
func learnBox(t *testing.T) *box {
	needSandbox(t)
	b := newBoxElsewhere(t)
	if b.private() {
		t.Skip("no place outside of the private directories")
	}
	for name, text := range map[string]string{".ssh/known_hosts": "host\n", ".netrc": "password\n", ".cache/file": "kept\n", ".cache/other": "kept\n", ".bashrc": "", "there": "x\n"} {
		b.write("home/"+name, text)
	}
	b.write("out/there", "x\n")
	must(t, os.Mkdir(b.home+"/.npm", 0o755))
	return b
}

// While sbx learns a command, its writes outside of the workspace succeed and do not stay. The
// resulting spec is no larger than necessary, and allows the command to run.
func TestLearn(t *testing.T) {
	needPrograms(t, "mkdir", "mv", "rm", "ln", "touch", "chmod")
	for _, c := range []struct {
		name, script string
		want         []string // the paths that may be written
		notes        []string
	}{
		{"nothing", "echo x >inside", nil, nil},
		{"a file that is there", "echo y >>$HOME/there; echo y >>{base}/out/there", []string{"{home}/there", "{base}/out/there"}, []string{"# open for writing {home}/there"}},
		{"a mode", "chmod 600 $HOME/there", []string{"{home}/there"}, nil},
		{"a new file", "touch $HOME/new", []string{"{home}"}, []string{"opens all of {home}: to open less, make {home}/new first and name that"}},
		{"in a cache", "mkdir -p $HOME/.cache/x; echo x >$HOME/.cache/x/y", []string{"{home}/.cache"}, nil},
		{"one made anew", "echo x >$HOME/.cache/t; mv $HOME/.cache/t $HOME/.cache/file; echo x >>$HOME/.cache/other", []string{"{home}/.cache"}, nil},
		{"one made and removed", "echo x >$HOME/.cache/t; rm $HOME/.cache/t", []string{"{home}/.cache"}, []string{"create {home}/.cache/*"}},
		{"one removed", "rm $HOME/.cache/file", []string{"{home}/.cache"}, []string{"# remove {home}/.cache/file"}},
		{"a link", "ln -s there {base}/out/link", []string{"{base}/out"}, nil},
		{"npm's cache", "mkdir -p $HOME/.npm/_cacache/a $HOME/.npm/_logs; echo x >$HOME/.npm/_cacache/a/b; echo x >$HOME/.npm/_logs/c", []string{`"@npm"`}, nil},
		{"a program of the host's", "echo x >>$HOME/.bashrc", []string{"{home}/.bashrc"}, []string{"the host runs it later (bash runs it as it starts)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := learnBox(t)
			within := strings.NewReplacer("{home}", b.home, "{base}", b.base).Replace
			script := "set -e\n" + within(c.script)
			before := [2]map[string]string{b.snapshot(b.home), b.snapshot(b.out)}
			first := b.sh("", script)
			if denied := first.code != 0; denied != (c.want != nil) {
				t.Fatalf("without the spec: %v", first)
			}
			r := b.learn(script)
			if r.code != 0 || lastLine(r.err) != "end" {
				t.Fatalf("it is denied what it does: %v", r)
			}
			if !maps.Equal(b.snapshot(b.home), before[0]) || !maps.Equal(b.snapshot(b.out), before[1]) {
				t.Fatal("what was written stays")
			}
			var written []string
			for line := range strings.Lines(r.out) {
				if item, ok := strings.CutPrefix(line, "    - "); ok {
					item, _, _ = strings.Cut(item, "  # ")
					written = append(written, strings.TrimSpace(item))
				}
			}
			if got, want := strings.Join(written, " "), within(strings.Join(c.want, " ")); got != want {
				t.Errorf("may write %s, want %s: %v", got, want, r)
			}
			for _, note := range c.notes {
				if !strings.Contains(r.out, within(note)) {
					t.Errorf("not said: %s: %v", within(note), r)
				}
			}
			spec := b.write("learned.yaml", r.out)
			b.args = []string{"--spec", spec}
			if again := b.sh("", script).ended(); len(again.rec.list("violations")) != 0 {
				t.Errorf("%s: %v", r.out, again.rec["violations"])
			}
			if c.want != nil && maps.Equal(b.snapshot(b.home), before[0]) && maps.Equal(b.snapshot(b.out), before[1]) {
				t.Error("the command wrote nothing with the spec")
			}
		})
	}
}

// A secret stays hidden from the command, and becomes a comment of the spec.
func TestLearnOfSecrets(t *testing.T) {
	needPrograms(t, "cat", "mkdir")
	b := learnBox(t)
	script := "cat $HOME/.ssh/known_hosts; cd; test -e .netrc; mkdir .ssh; echo x >.ssh/new; echo y >.netrc"
	if r := b.plain("/bin/sh", "-c", "cat $HOME/.ssh/known_hosts $HOME/.netrc"); r.out != "host\npassword\n" {
		t.Fatalf("the control: %v", r)
	}
	r := b.learn(script)
	for _, name := range []string{".ssh/known_hosts", ".netrc", ".ssh"} {
		if !strings.Contains(r.out, "# "+b.home+"/"+name+" was looked for: it is a secret, and stays hidden\n") {
			t.Errorf("%s is not told of: %v", name, r)
		}
	}
	if strings.Contains(r.err, "host\n") || strings.Contains(r.out, "filesystem:") {
		t.Errorf("a secret is opened: %v", r)
	}
	b.holds("home/.netrc", "password\n")
	b.absent("home/.ssh/new")
	for _, v := range r.rec.list("violations") {
		if v.text("kind") != "filesystem" || v.text("rule") != "secrets" || v.text("allow_with") != "" {
			t.Errorf("%v", v)
		}
	}
}

// The command sees neither the layers and their directory, nor sbx's state.
func TestLearnedLayersAreOutOfSight(t *testing.T) {
	needPrograms(t, "ls", "find", "mkdir")
	b := learnBox(t)
	b.write("state/sbx/mark", "")
	r := b.learn("touch $HOME/marked; find /tmp /var/tmp /run /dev " + b.base + " -name marked -o -name mark -o -name 'written*' -o -name 'layer*' 2>/dev/null; echo x >" + b.base + "/state/sbx/planted")
	if found, _, _ := strings.Cut(r.err, "end\n"); found != b.home+"/marked\n" {
		t.Errorf("%v", r)
	}
	b.absent("state/sbx/planted")
}

// Secrets stay hidden whatever the command does to the layers, and so do the layers.
func TestLearnedLayersHideSecrets(t *testing.T) {
	needSandbox(t)
	b := agentElsewhere(t)
	before := b.snapshot(b.home)
	if r := b.plain("/bin/sh", "-c", "cat $HOME/.netrc"); !strings.Contains(r.out, "s3cret") {
		t.Fatalf("the control: %v", r)
	}
	r := b.learn(strings.ReplaceAll(uncover, "PROBE", b.probe()))
	if r.code != 0 || !strings.Contains(r.err, "end\n") || strings.Contains(r.err, "s3cret") || strings.Contains(r.err, "in view") {
		t.Errorf("%v", r)
	}
	if names := differ(before, b.snapshot(b.home)); len(names) > 0 {
		t.Errorf("the host's home was changed: %q", names)
	}
}

// If no copy can cover a directory, writes there are denied and appear in the spec, and sbx says
// that later writes are not known.
func TestLearnWithoutLayers(t *testing.T) {
	for name, make := range map[string]func(b *box) (host []string, said string){
		"no whiteouts": func(b *box) ([]string, string) {
			return refusing(t, "whiteout"), "sbx: no copy can be made to write in: mknodat"
		},
		"a mount beneath": func(b *box) ([]string, string) {
			must(t, os.Mkdir(b.home+"/deep", 0o755))
			host := []string{needPrograms(t, "unshare", "mount"), "-Urm"}
			if isRoot() {
				host[1] = "-m"
			}
			return append(host, "/bin/sh", "-ec", "mount -t tmpfs -o mode=755 none "+b.home+`/deep; exec "$@"`, "sh"), ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := learnBox(t)
			host, said := make(b)
			b.host = host
			r := b.learn("echo y >>$HOME/there; echo x >$HOME/.cache/new")
			b.host = nil
			if !strings.Contains(r.out, "\n    - "+b.home+"/there  # open for writing") || !strings.Contains(r.err, said) || r.rec.status("layer") == "enforced" ||
				!strings.Contains(r.out, "# writes were denied, where there was no copy") {
				t.Errorf("%v", r)
			}
			b.holds("home/there", "x\n")
			b.absent("home/.cache/new")
		})
	}
	n := newNestElsewhere(t)
	if r := n.box.run(modeOnly, n.inner, "learn", "--", "/bin/sh", "-c", "echo ran >ran"); r.code != 125 || !strings.Contains(r.err, "nothing here reports its denials") {
		t.Errorf("inside another sandbox: %v", r)
	}
	n.absent("ws/ran")
}

// Names that the command looked up are in the spec; with --network host the network is.
func TestLearnOfTheNetwork(t *testing.T) {
	needPrograms(t, "getent")
	b := learnBox(t)
	if r := b.learn("getent ahosts sbx.example; true"); !strings.Contains(r.out, "network:\n  allow:\n    - \"sbx.example:443\"  # look up a name sbx.example") {
		t.Errorf("%v", r)
	}
	r := b.learn("true", "--network", "host")
	if !strings.Contains(r.out, "network:\n  mode: host\n") || !strings.Contains(r.out, "# the network was the host's") {
		t.Errorf("%v", r)
	}
	if r := b.learn("true", "--network", "host", "--spec-json", `{"access_mode":"workspace-write","network":{"mode":"none"}}`); r.code != 125 {
		t.Errorf("the flag is wider than the spec: %v", r)
	}
}

// With --save stdout stays the command's; an existing file is not overwritten.
func TestLearnSaves(t *testing.T) {
	b := learnBox(t)
	r := b.learn("echo x >>$HOME/there", "--save", "learned.yaml")
	if r.code != 0 || r.out != "end\n" {
		t.Fatal(r)
	}
	b.args = []string{"--spec", b.ws + "/learned.yaml"}
	b.sh("", "echo x >>$HOME/there").ended()
	if r := b.learn("echo ran >ran", "--save", "learned.yaml"); r.code != 125 || !strings.Contains(r.err, "it is there already") {
		t.Errorf("%v", r)
	}
	b.absent("ws/ran")
	if r := b.learn("exit 3"); r.code != 3 || !strings.Contains(r.out, "(exit status 3)") {
		t.Errorf("%v", r)
	}
	if r := b.learn("echo ran >ran", "--spec-json", "{}"); r.code != 125 || r.out != "" || !strings.Contains(r.err, "it lets it write everything") {
		t.Errorf("%v", r)
	}
	b.absent("ws/ran")
}
