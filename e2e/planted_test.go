package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// threeNames are the names of a directory of the host: by a link that an earlier command left in
// the workspace, by its own path, and by a link where no command writes.
type threeNames struct{ planted, real, elsewhere string }

// plant lets a command of a sandbox leave a link to a directory.
func (b *box) plant(name, to string) threeNames {
	b.t.Helper()
	if r := b.sh(specWW, "ln -s "+to+" "+name).ended(); r.code != 0 {
		b.t.Fatalf("%v", r)
	}
	must(b.t, os.Symlink(to, b.base+"/mine-"+name))
	return threeNames{b.ws + "/" + name, to, b.base + "/mine-" + name}
}

// treasures returns a directory of secrets and one to which commands do not write.
func (b *box) treasures() (keys, precious threeNames) {
	b.t.Helper()
	must(b.t, os.Mkdir(b.home+"/.ssh", 0o700))
	b.write(b.home+"/.ssh/id", "KEY\n")
	b.write("precious/f", "OWN\n")
	return b.plant("data", b.home+"/.ssh"), b.plant("far", b.base+"/precious")
}

const leftIt = ": an earlier command may have left it"

// A link that an earlier command left decides neither what a spec opens nor what a flag names,
// whatever the earlier spec allowed. The real path, and a link elsewhere, do.
func TestPlantedLinks(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		keys, precious := b.treasures()
		for _, c := range []struct {
			name   string
			to     threeNames
			args   []string // AT is the name
			script string   // REAL is the directory
			want   string
		}{
			{"working_dir", keys, []string{"--spec-json", `{"working_dir":"AT"}`}, "cat id", "KEY\n"},
			{"working_dir under danger-full-access", keys, []string{"--spec-json", `{"access_mode":"danger-full-access","working_dir":"AT"}`}, "cat id", "KEY\n"},
			{"the workspace", precious, []string{"--spec-json", specWith(specWW, `"working_dir":"AT"`)}, "echo x >made; cat made; rm made", "x\n"},
			{"write", precious, []string{"--spec-json", `{"filesystem":{"write":["AT"]}}`}, "echo x >REAL/made; cat REAL/made; rm REAL/made", "x\n"},
			{"read", precious, []string{"--spec-json", `{"filesystem":{"read":["@system","AT"]}}`}, "cat REAL/f", "OWN\n"},
			{"read of a secret", keys, []string{"--spec-json", specWith(specWW, `"filesystem":{"read":["@system","AT"]}`)}, "cat REAL/id", "KEY\n"},
			{"a mount without another rule", keys, []string{"--spec-json", `{"filesystem":{"mounts":[{"label":"m","source":"AT","target":"/mnt","mode":"ro"}]}}`}, "cat /mnt/id", "KEY\n"},
			{"sandbox.root", precious, []string{"--spec-json", `{"sandbox":{"root":"AT"}}`}, "cat f", "OWN\n"},
			{"--input", keys, []string{"--input", "AT", "--output", b.out}, "cat /input/id", "KEY\n"},
			{"--output", precious, []string{"--output", "AT"}, "echo x >/output/made; cat /output/made; rm /output/made", "x\n"},
			{"a profile's project", precious, []string{"--spec-json", `{"profile":"design","working_dir":"AT"}`}, "cat f", "OWN\n"},
		} {
			run := func(at string, flags ...string) result {
				fill := strings.NewReplacer("AT", at, "REAL", c.to.real).Replace
				args := append([]string{sbxPath, "exec", "--effective", b.rec}, flags...)
				for _, a := range c.args {
					args = append(args, fill(a))
				}
				return b.plain(append(args, "--", "/bin/sh", "-c", fill(c.script)+"; echo end")...)
			}
			for _, at := range []string{c.to.planted, filepath.Base(c.to.planted)} {
				for _, flags := range [][]string{nil, {"--dry-run"}} {
					if r := run(at, flags...).refused(c.to.planted + " is a link that leads out"); !strings.Contains(r.err, leftIt) ||
						!strings.Contains(r.err, "hint: name "+c.to.real+" itself") || r.rec != nil && r.rec.text("state") != "refused" {
						t.Errorf("%s: %s: %v", c.name, at, r)
					}
				}
			}
			b.holds(b.base+"/precious/f", "OWN\n")
			if left, _ := os.ReadDir(b.base + "/precious"); len(left) != 1 {
				t.Errorf("%s: left %v", c.name, left)
			}
			for _, at := range []string{c.to.real, c.to.elsewhere} {
				if r := run(at).ended(); r.out != c.want+"end\n" {
					t.Errorf("%s: control %s: %v", c.name, at, r)
				}
			}
			for _, dir := range []string{"docs", "design"} { // the profile's own
				_ = os.RemoveAll(b.base + "/precious/" + dir)
			}
		}
	})
}

// A link to a directory above the workspace leads out of it as well, whatever follows it.
func TestPlantedLinksUp(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		up := b.plant("up", b.base)
		for name, c := range map[string]struct {
			args   []string // AT is the name
			script string   // REAL is the directory
		}{
			"working_dir":  {[]string{"--spec-json", `{"working_dir":"AT"}`}, "echo x >made"},
			"sandbox.root": {[]string{"--spec-json", `{"sandbox":{"root":"AT"}}`}, "echo x >made"},
			"write":        {[]string{"--spec-json", `{"filesystem":{"write":["AT"]}}`}, "echo x >REAL/made"},
			"a mount":      {[]string{"--spec-json", `{"filesystem":{"mounts":[{"label":"m","source":"AT","target":"/mnt","mode":"rw"}]}}`}, "echo x >/mnt/made"},
			"--output":     {[]string{"--spec-json", `{}`, "--output", "AT"}, "echo x >/output/made"},
		} {
			for _, at := range []string{up.planted, "up", up.real, up.elsewhere} {
				fill := strings.NewReplacer("AT", at, "REAL", up.real).Replace
				args := append([]string{sbxPath, "exec"}, c.args...)
				for i := range args {
					args[i] = fill(args[i])
				}
				r := b.plain(append(args, "--", "/bin/sh", "-c", fill(c.script))...)
				left := at == up.planted || at == "up"
				if left && (r.code != 125 || !strings.Contains(r.err, up.planted+" is a link that leads out")) || !left && r.code != 0 || exists(b.base+"/made") == left {
					t.Errorf("%s: %s: %v", name, at, r)
				}
				_ = os.Remove(b.base + "/made")
			}
		}
	})
}

// A link that stays in the workspace opens nothing that must be opened by its own name.
func TestPlantedLinksToWhatIsKept(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	must(t, os.MkdirAll(b.ws+"/.git/hooks", 0o755))
	must(t, os.Mkdir(b.ws+"/sub", 0o755))
	must(t, os.Mkdir(b.home+"/.ssh", 0o700))
	b.write(b.home+"/.ssh/id", "KEY\n")
	for _, c := range []struct{ dir, name, to, spec, script string }{
		{b.ws, "made", ".git/hooks", specWith(specWW, `"filesystem":{"write":["NAME"]}`), "echo x >.git/hooks/pre-commit && echo wrote; rm -f .git/hooks/pre-commit"},
		{b.home, "made", ".ssh", specWith(specWW, `"filesystem":{"read":["@system","NAME"]}`), "cat .ssh/id && echo wrote"},
	} {
		if r := b.runIn(c.dir, "", specWW, "/bin/ln", "-s", c.to, c.name); r.code != 0 {
			t.Fatalf("%v", r)
		}
		for name, code := range map[string]int{c.name: 125, c.to: 0} {
			r := b.runIn(c.dir, "", strings.ReplaceAll(c.spec, "NAME", name), "/bin/sh", "-c", c.script)
			if r.code != code || strings.Contains(r.out, "wrote") != (code == 0) || code != 0 && !strings.Contains(r.err, "only its own name opens") {
				t.Errorf("%s: %v", name, r)
			}
		}
	}
	// The control: to a file that is not protected.
	must(t, os.Symlink("sub", b.ws+"/stays"))
	if r := b.sh(specWith(specWW, `"filesystem":{"write":["stays"]}`), "echo x >stays/f").ended(); !exists(b.ws + "/sub/f") {
		t.Errorf("control: %v", r)
	}
}

// The repository around the current directory may have been a command's workspace.
func TestPlantedLinksAround(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	must(t, os.Mkdir(b.ws+"/sub", 0o755))
	keys, _ := b.treasures()
	input := func(at string) result {
		cmd := b.command(t.Context(), "", "/bin/cat", "/input/id")
		cmd.Args = append([]string{sbxPath, "exec", "--effective", b.rec, "--input", at}, "--", "/bin/cat", "/input/id")
		cmd.Dir = b.ws + "/sub"
		return b.finish(cmd)
	}
	// Without a repository nothing suggests that commands write there.
	if r := input("../data"); r.out != "KEY\n" {
		t.Errorf("control: no repository: %v", r)
	}
	must(t, os.Mkdir(b.ws+"/.git", 0o755))
	input("../data").refused(keys.planted + " is a link that leads out")
	for _, at := range []string{keys.real, keys.elsewhere} {
		if r := input(at); r.out != "KEY\n" {
			t.Errorf("control: %s: %v", at, r)
		}
	}
}

// A planted link does not decide which programs may start either; but it may add to those that may
// not.
func TestPlantedPrograms(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.write("bin/tool", "#!/bin/sh\necho tool\n")
	must(t, os.Chmod(b.base+"/bin/tool", 0o755))
	w := b.plant("tool", b.base+"/bin/tool")
	for at, code := range map[string]int{w.planted: 125, w.real: 0, w.elsewhere: 0} {
		r := b.run(`{"commands":{"allow":["`+at+`","sh"]}}`, "/bin/sh", "-c", w.real)
		if r.code != code || (r.out == "tool\n") != (code == 0) {
			t.Errorf("allow %s: %v", at, r)
		}
	}
	if r := b.run(`{"commands":{"deny":["`+w.planted+`"]}}`, "/bin/sh", "-c", w.real+" || echo denied"); r.out != "denied\n" {
		t.Errorf("deny: %v", r)
	}
}

// These are the paths that a program passes to wrap, and the directory of a bundle.
func TestPlantedLinksInWrap(t *testing.T) {
	b := newBoxElsewhere(t)
	must(t, os.MkdirAll(b.base+"/precious", 0o755))
	must(t, os.Symlink(b.base+"/precious", b.ws+"/far"))
	must(t, os.Symlink(b.base+"/precious", b.base+"/mine"))
	wrap := func(input string, args ...string) result {
		cmd := b.command(t.Context(), "", "x")
		cmd.Args = append([]string{sbxPath, "wrap", "--best-effort", "*", "--json"}, args...)
		cmd.Stdin = strings.NewReader(input)
		return b.finish(cmd)
	}
	mount := func(at string) string {
		return `{"cmd":"/bin/true","mounts":[{"hostPath":"` + at + `","guestPath":"/data","mode":"ro"}]}`
	}
	for _, at := range []string{b.ws + "/far", b.base + "/precious", b.base + "/mine"} {
		planted := at == b.ws+"/far"
		for name, r := range map[string]result{
			"hostPath": wrap(mount(at), "--wrapper", "sbx"), "hostPath beside a spec": wrap(mount(at), "--wrapper", "sbx", "--spec-json", "{}"),
			"cwd": wrap(`{"cmd":"/bin/true","cwd":"`+at+`"}`, "--wrapper", "sbx"), "--bundle": wrap(`{"cmd":"/bin/true"}`, "--wrapper", "oci", "--bundle", at),
		} {
			refused := r.code > 0 && strings.Contains(r.out, leftIt) && strings.Contains(r.out, `"help": "name `+b.base+`/precious itself`)
			if refused != planted || !planted && r.code != 0 && !strings.Contains(r.out, "a directory cannot be mounted on a link") {
				t.Errorf("%s: %s: %v", name, at, r)
			}
		}
		if left, _ := os.ReadDir(b.base + "/precious"); planted == (len(left) > 0) {
			t.Errorf("%s: %v", at, left)
		}
		must(t, os.RemoveAll(b.base+"/precious"))
		must(t, os.Mkdir(b.base+"/precious", 0o755))
	}
}

// These are the files that a dispatch reads and writes for a command, outside of its sandbox.
func TestPlantedLinksInDispatch(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	keys, precious := b.treasures()
	b.write(b.home+"/.ssh/spec.json", `{"max_turns": 1}`)
	for _, c := range []struct {
		name string
		to   threeNames
		args []string
		left string // in precious, if it was not refused
	}{
		{"--output", precious, []string{"--output", "AT/x.sh", "--", "/bin/echo", "words"}, "x.sh"},
		{"--prompt-file", keys, []string{"--output", b.base + "/precious/o", "--prompt-file", "AT/id", "--", "/bin/cat"}, "o"},
		{"--project", precious, []string{"--project", "AT", "--output", "o", "--", "/bin/sh", "-c", "echo x >made"}, "made"},
		{"--db", precious, []string{"--db", "AT/l.db", "--output", "o", "--", "/bin/true"}, "l.db"},
		{"--sandbox-spec", keys, []string{"--output", b.base + "/precious/o", "--no-validate", "--sandbox-spec", "@AT/spec.json", "--", "/bin/echo"}, "o"},
	} {
		for _, at := range []string{c.to.planted, filepath.Base(c.to.planted), c.to.real, c.to.elsewhere} {
			var args []string
			for _, a := range c.args {
				args = append(args, strings.ReplaceAll(a, "AT", at))
			}
			r := b.dispatch(append([]string{"spawn"}, args...)...)
			if strings.Contains(c.to.planted, at) {
				if r.code != 125 || !strings.Contains(r.err, c.to.planted+" is a link") || !strings.Contains(r.err, leftIt) {
					t.Errorf("%s: %s: %v", c.name, at, r)
				}
				b.absent(b.base + "/precious/" + c.left)
				continue
			}
			wait := []string{"wait", strings.TrimSpace(r.out)}
			if c.name == "--db" || c.name == "--project" {
				wait = append(wait, args[:2]...)
			}
			if w := b.dispatch(wait...); r.code != 0 || w.code != 0 || !exists(b.base+"/precious/"+c.left) {
				t.Errorf("%s: control %s: %v %v", c.name, at, r, w)
			}
			if text, _ := os.ReadFile(b.base + "/precious/o"); c.name == "--prompt-file" && string(text) != "KEY\n" {
				t.Errorf("%s: control %s: %q", c.name, at, text)
			}
			must(t, os.RemoveAll(b.base+"/precious"))
			b.write("precious/f", "OWN\n")
		}
	}
	// The prompt was a file when the dispatch was sent.
	prompt := b.write(b.ws+"/prompt", "exit 3\n")
	id := strings.TrimSpace(b.dispatch("spawn", "--prompt-file", "prompt", "--", "/bin/sh").out)
	b.dispatch("wait", id)
	if r := b.dispatch("retry", id); r.code != 0 {
		t.Errorf("control: %v", r)
	}
	must(t, os.Remove(prompt))
	must(t, os.Symlink(keys.real+"/id", prompt))
	if r := b.dispatch("retry", id); r.code != 125 || !strings.Contains(r.err, leftIt) {
		t.Errorf("retry: %v", r)
	}
}

// The driver treats the paths from Intercore in the same way.
func TestPlantedLinksForTheDriver(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	keys, precious := b.treasures()
	b.intercore(20)
	prompt := b.write("task.sh", "echo ran\n")
	for i, c := range []struct {
		out, prompt string
		code        int
	}{
		{precious.planted + "/o", prompt, 125}, {b.out + "/o", keys.planted + "/id", 125},
		{precious.real + "/o", prompt, 0}, {precious.elsewhere + "/p", prompt, 0},
	} {
		b.insert("row"+strconv.Itoa(i), "sh", c.out, c.prompt, nil)
		cmd := b.driver(c.out, c.prompt)
		_ = cmd.Run()
		if code := statusOf(cmd.ProcessState); code != c.code {
			t.Errorf("%+v: status %d", c, code)
		}
		effective := b.row("row" + strconv.Itoa(i)).effective()
		if why := effective.text("error", "reason"); strings.Contains(why, leftIt) != (c.code != 0) {
			t.Errorf("%+v: %v", c, effective)
		}
		if c.code != 0 && (exists(precious.real+"/o") || exists(precious.real+"/o.verdict")) {
			t.Errorf("%+v: written where the link leads", c)
		}
	}
	b.holds(precious.real+"/o", "ran\n")
}
