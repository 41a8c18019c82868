package e2e

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
)

// advised returns the line of a spec that, according to a record, would allow what was denied: that
// of the first violation that has one, else that of the refusal to start.
func advised(r result) string {
	for _, v := range r.rec.list("violations") {
		if line := v.text("allow_with"); line != "" {
			return line
		}
	}
	line, _ := strings.CutSuffix(r.rec.text("error", "help"), " would allow it")
	return line
}

// followed returns a document with a line put into it to the letter.
func followed(t *testing.T, spec, line string) string {
	t.Helper()
	var doc map[string]any
	must(t, json.Unmarshal([]byte(spec), &doc))
	field, text, _ := strings.Cut(line, ": ")
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		value = text
	}
	at := doc
	if mount, mode, ok := strings.Cut(line, "].mode: "); ok {
		number, err := strconv.Atoi(strings.TrimPrefix(mount, "filesystem.mounts["))
		must(t, err)
		at, _ = doc["filesystem"].(map[string]any)["mounts"].([]any)[number].(map[string]any)
		field, value = "mode", mode
	}
	for name, rest, deeper := strings.Cut(field, "."); ; name, rest, deeper = strings.Cut(rest, ".") {
		if !deeper {
			at[name] = value
			break
		}
		if _, ok := at[name].(map[string]any); !ok {
			at[name] = map[string]any{}
		}
		at, _ = at[name].(map[string]any)
	}
	out, err := json.Marshal(doc)
	must(t, err)
	return string(out)
}

// Putting the lines that sbx advises into the spec, to the letter, succeeds in at most three steps,
// and keeps what the spec allowed before.
func TestAdviceThatIsFollowedAllows(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "git", "touch", "mkdir", "date", "python3")
	const shim = "home/.tool/shims/tool"
	for _, c := range []struct {
		name, spec, script string
		opens              string // the directory that the first line opens as a whole
	}{
		{"secret", `{"access_mode":"workspace-write","filesystem":{"write":["{home}"]}}`, "sleep 0.5; ls $HOME/.ssh >seen; cat $HOME/.ssh/known_hosts && [ -s seen ]", ""},
		{"no system", `{"access_mode":"workspace-write","filesystem":{"read":["{home}/.cache"]}}`, "cat $HOME/.cache/file && git --version", ""},
		{"no libraries", `{"access_mode":"workspace-write","filesystem":{"read":["/usr/bin","/bin"]}}`, "git --version", ""},
		{"a new file", `{"access_mode":"workspace-write"}`, "touch $HOME/new", "home"},
		{"a file that is there", `{"access_mode":"workspace-write","filesystem":{"write":["{home}/.cache"]}}`, "echo x >>$HOME/there && echo y >$HOME/.cache/x", ""},
		{"a cache", `{"access_mode":"workspace-write"}`, "mkdir $HOME/.npm/_cacache", "home/.npm"},
		{"a new cache", `{"access_mode":"workspace-write"}`, "mkdir -p $HOME/.yarn/x", "home"},
		{"a read-only workspace", `{"access_mode":"read-only"}`, "touch new", "linked"},
		{"a mount", `{"access_mode":"workspace-write","filesystem":{"mounts":[{"label":"m","source":"{home}/.npm","target":"{home}/.cache","mode":"ro"}]}}`, "echo x >$HOME/.cache/new", "home/.cache"},
		{"a shim out of view", `{"access_mode":"workspace-write","filesystem":{"read":["@system","{base}/` + shim + `"]}}`, "{base}/" + shim, ""},
		{"a shim that may not run", `{"access_mode":"workspace-write","commands":{"allow":["sh","{base}/` + shim + `"]}}`, "{base}/" + shim, ""},
		{"a directory like a variable", `{"filesystem":{"write":["kept"]}}`, "echo x >'$new/file' && echo x >'~new/file' && echo x >'@new/file'", ""},
		{"a file like a variable", `{"filesystem":{"read":["@system","kept"]}}`, "'{base}/linked/$new/tool' && '{base}/linked/~new/tool' && '{base}/linked/@new/tool'", ""},
		{"a program like a variable", `{"access_mode":"workspace-write","commands":{"allow":["sh"]}}`, "'./$new/tool' && ./@tool", ""},
		{"another program", `{"access_mode":"workspace-write","commands":{"allow":["sh"]}}`, "date", ""},
		{"a worktree's configuration", `{"access_mode":"workspace-write"}`, "git config a.b c", ""},
		{"nothing in a worktree", `{"access_mode":"workspace-write","filesystem":{"read":["@system"]}}`, "echo x >f && git add f && git -c user.name=n -c user.email=e@x commit -qm two", ""},
		{"a socket", `{"access_mode":"workspace-write","filesystem":{"read":["/"]}}`, `python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("{base}/out/s")'`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := adviceBox(t)
			within := func(b *box, text string) string {
				return strings.NewReplacer("{home}", b.home, "{base}", b.base).Replace(text) + " && echo end"
			}
			if free := adviceBox(t); lastLine(strings.TrimSpace(free.plain("/bin/sh", "-c", within(free, c.script)).out)) != "end" {
				t.Fatal("the control does not end")
			}
			spec := strings.TrimSuffix(within(b, c.spec), " && echo end")
			for step := range 4 {
				r := b.run(spec, "/bin/sh", "-c", within(b, c.script))
				if r.code == 0 && lastLine(strings.TrimSpace(r.out)) == "end" {
					if step == 0 && !strings.HasPrefix(c.name, "nothing") {
						t.Fatalf("nothing was refused: %v", r)
					}
					return
				}
				line := advised(r)
				if line == "" || step == 3 {
					t.Fatalf("step %d, %s: no way on: %v %v", step, spec, r, r.rec["violations"])
				}
				if step == 0 && c.opens != "" {
					if v := r.rec.list("violations")[0]; v.text("opens") != b.base+"/"+c.opens || !strings.Contains(r.err, "and every change in "+b.base+"/"+c.opens) {
						t.Errorf("what the line opens is not said: %v", r)
					}
				}
				spec = followed(t, spec, line)
			}
		})
	}
}

// TestAdviceOnANameLikeAVariable: no document can have the name of a program that begins so,
// and the advice has its path, for the command itself too.
func TestAdviceOnANameLikeAVariable(t *testing.T) {
	needSandbox(t)
	for _, name := range []string{"$tool", "~tool", "@tool"} {
		for _, argv := range [][]string{{name}, {"sh", "-c", "'" + name + "' && echo end"}} {
			b := newBox(t)
			must(t, os.Chmod(b.write("ws/bin/"+name, "#!/bin/sh\necho end\n"), 0o755))
			b.env[0] += ":" + b.ws + "/bin"
			b.plain("sh", "-c", "'"+name+"'").ended()
			spec := only("sh")
			if r := b.run(spec, argv...); r.code == 0 || advised(r) == "" {
				t.Errorf("%q: %v", argv, r)
			} else {
				b.run(followed(t, spec, advised(r)), argv...).ended()
			}
		}
	}
}

// A program out of view that was met on the way through PATH is in the record, and not
// told: the next one of that name is found.
func TestAProgramOutOfViewOnPathIsNotTold(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "env", "true")
	b := adviceBox(t)
	mine := b.write("home/bin/true", "#!/bin/sh\n")
	must(t, os.Chmod(mine, 0o755))
	const spec = `{"access_mode":"workspace-write","filesystem":{"read":["@system"]}}`
	for _, c := range []struct {
		path string
		said int
	}{{b.home + "/bin:/usr/bin:/bin", 0}, {"/usr/bin:/bin", 1}} {
		b.env = append(b.env, "PATH="+c.path)
		r := b.sh(spec, "env true; "+mine+" || :").ended()
		if !r.rec.refused("command", mine) || strings.Count(r.err, mine+" is out of view") != c.said {
			t.Errorf("PATH=%s: %v %v", c.path, r, r.rec["violations"])
		}
	}
}

// adviceBox returns a box with a linked worktree as its workspace, and the files that the advice is
// about.
func adviceBox(t *testing.T) *box {
	b := newBoxElsewhere(t)
	if b.private() {
		t.Skip("no place outside of the private directories")
	}
	b.repository(b.base + "/main")
	b.git(b.base+"/main", "worktree", "add", "-q", b.base+"/linked")
	b.ws = b.base + "/linked"
	for name, text := range map[string]string{".ssh/known_hosts": "host\n", ".aws/credentials": "key\n", ".cache/file": "kept\n", "there": "x\n"} {
		b.write("home/"+name, text)
	}
	b.write("linked/kept", "")
	for _, name := range []string{"$new/tool", "~new/tool", "@new/tool", "@tool"} {
		must(t, os.Chmod(b.write("linked/"+name, "#!/bin/sh\n"), 0o755))
	}
	must(t, os.Mkdir(b.home+"/.npm", 0o755))
	tool := b.base + "/home/.tool/"
	for name, text := range map[string]string{"shims/tool": "exec " + tool + "libexec/tool", "libexec/tool": "exec " + tool + "versions/3/tool", "versions/3/tool": "echo tool"} {
		must(t, os.Chmod(b.write("home/.tool/"+name, "#!/bin/sh\n"+text+"\n"), 0o755))
	}
	b.hostSocket(b.out + "/s")
	return b
}

// Under a list in filesystem.read a write outside of it is a violation, with the line that would
// allow it. An operation that would fail on the host as well is not a violation.
func TestWritesOutOfViewAreViolations(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "mkdir")
	b := adviceBox(t)
	const spec = `{"access_mode":"workspace-write","filesystem":{"read":["@system"]}}`
	b.write("out/there", "x\n")
	tries := "echo x >>" + b.home + "/.npm/new; echo x >>" + b.out + "/there; mkdir " + b.home + "/.npm/made"
	if r := adviceBox(t).plain("/bin/sh", "-ec", "cd; echo x >>.npm/new; echo x >>../out/there; mkdir .npm/made; echo end"); r.code != 0 {
		t.Fatalf("the control: %v", r)
	}
	r := b.sh(spec, "{ "+tries+"; echo x >"+b.base+"/nowhere/x; echo x >/tmp/none/x; mkdir /nowhere/x; } 2>/dev/null; :").ended()
	want := map[string]string{
		b.home + "/.npm/new":  `filesystem.write: ["` + b.home + `/.npm"]`,
		b.out + "/there":      `filesystem.write: ["` + b.out + `/there"]`,
		b.home + "/.npm/made": `filesystem.write: ["` + b.home + `/.npm"]`,
	}
	for _, v := range r.rec.list("violations") {
		if v.text("kind") != "filesystem" || v.text("rule") != "filesystem.read" || v.text("allow_with") != want[v.text("target")] {
			t.Errorf("%v", v)
		}
		delete(want, v.text("target"))
	}
	if len(want) > 0 || strings.Count(r.err, "is out of view") != 1 {
		t.Errorf("nothing of %v: %v", want, r)
	}
	open := followed(t, spec, `filesystem.write: ["`+b.home+`/.npm", "`+b.out+`/there"]`)
	if r = b.sh(open, tries).ended(); len(r.rec.list("violations")) != 0 || r.err != "" {
		t.Errorf("%v %v", r, r.rec["violations"])
	}
}

// A line that a spec cannot add to a profile or a workshop is not advised; one of the workshop's
// own file is. Under a spec alone the same line is advised, and works.
func TestAdviceBeneathABound(t *testing.T) {
	needPrograms(t, "curl")
	b := newBoxElsewhere(t)
	b.write("ws/in.yaml", "sandbox: {root: .}\n")
	b.write("ws/ro.yaml", "sandbox: {root: ., readonly: true}\n")
	b.write("out/dir/file", "x")
	outside := []string{"/bin/sh", "-c", "echo x >" + b.out + "/dir/new"}
	listed := `{"filesystem": {"read": ["@system", "` + b.ws + `"]}}`
	line := advised(b.run(listed, outside...))
	if r := b.run(followed(t, listed, line), outside...); r.code != 0 {
		t.Errorf("with %q: %v", line, r)
	}
	for name, c := range map[string]struct {
		args []string
		argv []string
		want string
	}{
		"a profile, out of view":   {[]string{"--profile", "write"}, outside, ""},
		"a profile, read-only":     {[]string{"--profile", "read-only"}, []string{"/bin/sh", "-c", "echo x >new"}, ""},
		"a profile, the network":   {[]string{"--profile", "write"}, []string{"curl", "-sS", "--max-time", "5", "http://8.8.8.3/"}, ""},
		"a workshop, out of view":  {[]string{"--workshop", "in.yaml"}, outside, ""},
		"a workshop, its own line": {[]string{"--workshop", "ro.yaml"}, []string{"/bin/sh", "-c", "echo x >new"}, "sandbox.readonly: false"},
	} {
		b.args = c.args
		r := b.run("", c.argv...)
		if got := advised(r); r.code == 0 || len(r.rec.list("violations")) == 0 || got != c.want {
			t.Errorf("%s: advised %q, want %q: %v", name, got, c.want, r)
		}
	}
	b.args = []string{"--workshop", "in.yaml"}
	if r := b.run("", b.copyProbe(b.out+"/probe")); r.code != 125 || !strings.Contains(r.err, "hint: no spec adds to what in.yaml has in view") {
		t.Errorf("a program that is out of view: %v", r)
	}
}
