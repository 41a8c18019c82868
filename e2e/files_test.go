package e2e

import (
	"os"
	"strings"
	"testing"
)

// TestAccessModes checks the effect of access_mode by a table: a row for each operation, a column
// for each mode.
func TestAccessModes(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.write(b.out+"/file", "HOST")
		b.write(b.ws+"/file", "WS")
		b.write(b.home+"/.netrc", "SECRET")
		b.write(b.home+"/note", "NOTE")
		shared := "/tmp/" + uniqueName(t)
		must(t, os.WriteFile(shared, []byte("TMP"), 0o644))
		t.Cleanup(func() { os.Remove(shared) })
		// Paths under a private directory are absent; others can be read.
		seen, note := "read:HOST", "read:NOTE"
		refused := "EROFS"
		if b.private() {
			seen, note, refused = "ENOENT", "ENOENT", "ENOENT"
		}
		rows := []struct{ attempt, ro, ww, full string }{
			{"read|" + b.out + "/file", seen, seen, "read:HOST"},
			{"create|" + b.out + "/new", refused, refused, "ok"},
			{"read|" + b.ws + "/file", "read:WS", "read:WS", "read:WS"},
			{"cwd", b.ws, b.ws, b.ws},
			{"write|" + b.ws + "/file", "EROFS", "ok", "ok"},
			{"create|" + b.ws + "/new", "EROFS", "ok", "ok"},
			{"read|" + b.home + "/note", note, note, "read:NOTE"},
			{"read|" + b.home + "/.netrc", "ENOENT", "ENOENT", "read:SECRET"},
			{"read|" + shared, "ENOENT", "ENOENT", "read:TMP"},
			{"create|" + shared + ".new", "ok", "ok", "ok"},
			{"list|/var/tmp", "[]", "[]", ""},
			{"list|/dev/shm", "[]", "[]", ""},
			{"create|/var/tmp/" + uniqueName(t), "ok", "ok", "ok"},
			{"create|/dev/shm/" + uniqueName(t), "ok", "ok", "ok"},
			{"open|/etc/passwd", "ok", "ok", "ok"},
			{"open|/usr/bin/env", "ok", "ok", "ok"},
			{"write|/dev/null", "ok", "ok", "ok"},
			{"open|/dev/zero", "ok", "ok", "ok"},
			{"open|/dev/urandom", "ok", "ok", "ok"},
			{"open|/proc/self/status", "ok", "ok", "ok"},
			{"stat|/dev/fd", "link", "link", "link"},
		}
		var argv []string
		for _, r := range rows {
			argv = append(argv, r.attempt)
		}
		clean := func() {
			for _, r := range rows {
				if p, ok := strings.CutPrefix(r.attempt, "create|"); ok {
					os.Remove(p)
				}
			}
		}
		t.Cleanup(clean)
		for _, m := range []struct {
			spec string
			want func(i int) string
		}{
			{specRO, func(i int) string { return rows[i].ro }},
			{specWW, func(i int) string { return rows[i].ww }},
			{specFull, func(i int) string { return rows[i].full }},
			{specNone, func(i int) string { return rows[i].full }},
		} {
			clean()
			b.probe()
			r := b.run(m.spec, append([]string{"./probe.bin", "try"}, argv...)...)
			if r.code != 0 || lastLine(r.out) != "end" {
				t.Errorf("%s: %v", m.spec, r)
				continue
			}
			got := r.lines()
			for i, row := range rows {
				if want := m.want(i); want != "" && got[row.attempt] != want {
					t.Errorf("%s: %s: %q, want %q", m.spec, row.attempt, got[row.attempt], want)
				}
			}
		}
	})
}

// secretFiles and secretDirs are some of the paths that are hidden by default.
var (
	secretFiles = []string{".netrc", ".npmrc", ".git-credentials", ".pypirc", ".bash_history", ".pgpass", ".vault-token",
		".cargo/credentials.toml", ".config/git/credentials", ".m2/settings.xml", ".Xauthority", ".xauthX1", ".sbt/1.0/.credentials"}
	secretDirs = []string{".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".kube", ".docker", ".config/gh",
		".password-store", ".local/share/keyrings", ".mozilla", ".config/google-chrome", ".bitcoin"}
)

// withSecrets fills the home with secrets and returns the part of a spec that shows the home.
func (b *box) withSecrets() string {
	for _, f := range secretFiles {
		b.write(b.home+"/"+f, "SECRET")
	}
	for _, d := range secretDirs {
		b.write(b.home+"/"+d+"/inner", "SECRET")
	}
	b.write(b.home+"/.gitconfig", "[user]\n\tname = Tester\n\temail = tester@example.com\n")
	b.write(b.home+"/.config/other", "PLAIN")
	b.write(b.home+"/.cargo/config.toml", "PLAIN")
	if b.private() {
		return `"filesystem":{"read":["@system","~"]}`
	}
	return ""
}

func TestSecretsAreHidden(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		members := b.withSecrets()
		var argv []string
		want := map[string]string{}
		for _, f := range secretFiles {
			want["read|"+b.home+"/"+f] = "ENOENT"
			want["stat|"+b.home+"/"+f] = "ENOENT"
		}
		for _, d := range secretDirs {
			want["read|"+b.home+"/"+d+"/inner"] = "ENOENT"
			want["list|"+b.home+"/"+d] = "[] ENOENT"
		}
		want["read|"+b.home+"/.config/other"] = "read:PLAIN"
		want["read|"+b.home+"/.cargo/config.toml"] = "read:PLAIN"
		want["stat|"+b.home+"/.gitconfig"] = "file"
		for a := range want {
			argv = append(argv, a)
		}
		for a, got := range b.control(argv...) {
			if strings.HasPrefix(a, "read|") && got != "read:SECRET" && got != "read:PLAIN" {
				t.Errorf("control: %s: %s", a, got)
			}
		}
		for _, spec := range []string{specRO, specWW} {
			if members != "" {
				spec = specWith(spec, members)
			}
			got := b.tries(spec, argv...)
			for a, w := range want {
				if !oneOf(got[a], w) && got[a] != w {
					t.Errorf("%s: %s: %q, want %s", spec, a, got[a], w)
				}
			}
		}
	})
}

// TestSecretsAreOpenedByName: a spec opens a secret only by the secret's own path or a path under
// it, not by a directory above.
func TestSecretsAreOpenedByName(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.withSecrets()
	netrc, key := b.home+"/.netrc", b.home+"/.ssh/inner"
	for _, c := range []struct {
		files            string
		netrc, key, edit string
	}{
		{`{"read":["/"]}`, "ENOENT", "ENOENT", "ENOENT"},
		{`{"read":["@system","~/.netrc"]}`, "read:SECRET", "ENOENT", "EROFS"},
		{`{"read":["@system","~/.ssh/inner"]}`, "ENOENT", "read:SECRET", "ENOENT"},
		{`{"write":["~/.netrc"]}`, "read:SECRET", "ENOENT", "ok"},
	} {
		spec := `{"access_mode":"workspace-write","filesystem":` + c.files + `}`
		r := b.run(spec, b.probe(), "try", "read|"+netrc, "read|"+key, "write|"+netrc)
		if r.code != 0 {
			t.Errorf("%s: %v", c.files, r)
			continue
		}
		got := r.lines()
		if got["read|"+netrc] != c.netrc || got["read|"+key] != c.key || got["write|"+netrc] != c.edit {
			t.Errorf("%s: %v, want %s %s %s", c.files, got, c.netrc, c.key, c.edit)
		}
	}
}

// TestSecretsStayHiddenWhenTheyAreReplaced: the host renames a new file over a secret while the
// sandbox runs, as git, npm and gh do. The new file is hidden, too.
func TestSecretsStayHiddenWhenTheyAreReplaced(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		members := b.withSecrets()
		spec := specWW
		if members != "" {
			spec = specWith(spec, members)
		}
		files := []string{".git-credentials", ".npmrc", ".config/git/credentials", ".netrc"}
		script := "echo ready; read go; for f in"
		for _, f := range files {
			script += " " + b.home + "/" + f
		}
		script += ` ; do cat $f 2>/dev/null && echo "seen $f"; ls -d $f 2>/dev/null; done; ls -a ` + b.home + ` | grep -E 'npmrc|netrc|git-cred'; echo end`
		s := b.start(spec, "/bin/sh", "-c", script)
		s.expect("ready")
		for _, f := range files {
			b.write(b.home+"/"+f+".lock", "ROTATED")
			must(t, os.Rename(b.home+"/"+f+".lock", b.home+"/"+f))
		}
		s.say("go")
		if code := s.wait(); code != 0 || strings.Join(s.out.all(), "\n") != "ready\nend" {
			t.Errorf("status %d: %q %s", code, s.out.all(), s.err)
		}
		for _, f := range files {
			b.holds(b.home+"/"+f, "ROTATED")
		}
		if r := b.plain("/bin/sh", "-c", "echo | "+strings.ReplaceAll(script, "read go", "read go")); !strings.Contains(r.out, "ROTATED") {
			t.Errorf("control: %v", r)
		}
	})
}

func TestSecretsThatAreLinks(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.write("dotfiles/netrc", "SECRET")
	b.write("dotfiles/ssh/id", "SECRET")
	b.write("dotfiles/plain", "PLAIN")
	must(t, os.Symlink(b.base+"/dotfiles/netrc", b.home+"/.netrc"))
	must(t, os.Symlink("../dotfiles/ssh", b.home+"/.ssh"))
	members := ""
	if b.private() {
		members = `,"filesystem":{"read":["@system","~",` + quoted(b.base+"/dotfiles") + `]}`
	}
	rows := map[string]string{
		"read|" + b.home + "/.netrc":          "ENOENT",
		"read|" + b.base + "/dotfiles/netrc":  "ENOENT",
		"read|" + b.home + "/.ssh/id":         "ENOENT",
		"read|" + b.base + "/dotfiles/ssh/id": "ENOENT",
		"read|" + b.base + "/dotfiles/plain":  "read:PLAIN",
	}
	var argv []string
	for a := range rows {
		argv = append(argv, a)
	}
	control := b.control(argv...)
	got := b.tries(`{"access_mode":"workspace-write"`+members+`}`, argv...)
	for a, want := range rows {
		if got[a] != want {
			t.Errorf("%s: %s, want %s", a, got[a], want)
		}
		if !strings.HasPrefix(control[a], "read:") {
			t.Errorf("control: %s: %s", a, control[a])
		}
	}
}

// TestHomeAsWorkspace: files that the command writes remain in a workspace that contains a secret.
func TestHomeAsWorkspace(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.withSecrets()
		b.copyProbe(b.home + "/probe.bin")
		r := b.runIn(b.home, "", specWW, "/bin/sh", "-c", `cat .netrc .ssh/inner 2>/dev/null; echo new >kept; echo x 2>/dev/null >.gitconfig2; echo end`).ended()
		if r.out != "end\n" {
			t.Errorf("%v", r)
		}
		b.holds(b.home+"/kept", "new\n")
		b.holds(b.home+"/.netrc", "SECRET")
		b.holds(b.home+"/.ssh/inner", "SECRET")
	})
}

// TestHomeThatIsALink: a home that is reached through a symlink under another name is treated as
// the same home.
func TestHomeThatIsALink(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		link := b.base + "/link"
		must(t, os.Symlink(b.home, link))
		b.write(b.home+"/.netrc", "machine\n")
		b.env = append(b.env, "HOME="+link, "XDG_STATE_HOME=")
		inside := "cat ~/.netrc " + b.home + "/.netrc 2>/dev/null; ls .local/state/sbx; echo x >wrote && echo end"
		for range 2 { // the second time, the state directory exists
			os.Remove(b.home + "/wrote")
			r := b.plain("/bin/sh", "-c", `cd "$1" && exec "$2" exec -- /bin/sh -c "$3"`, "sh", link, sbxPath, inside)
			if r.code != 0 || r.out != "end\n" || !exists(b.home+"/wrote") {
				t.Errorf("%v", r)
			}
		}
		if r := b.plain("/bin/cat", link+"/.netrc"); r.out != "machine\n" {
			t.Errorf("control: %v", r)
		}
	})
}

// TestFileRules checks rules about paths, one for each mechanism. TestMeaning in package wrap has a
// table of the meaning of documents.
func TestFileRules(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		for _, f := range []string{"a/f", "a/sub/f", "a/sub/deep/f", "b/f"} {
			b.write(b.out+"/"+f, "HOST")
		}
		must(t, os.Symlink("a", b.out+"/link"))
		b.write(b.ws+"/f", "WS")
		o := b.out
		for _, c := range []struct {
			name, spec string
			want       []string // attempt, answer, …
		}{
			{"read alone: the rest is absent", `{"filesystem":{"read":["@system","OUT/a","."]}}`,
				[]string{"read|OUT/a/f", "read:HOST", "read|OUT/b/f", "ENOENT", "write|OUT/a/f", "EROFS", "read|/etc/passwd", "read:", "read|BASE/rec.json", "ENOENT"}},
			{"write under read-only", `{"access_mode":"read-only","filesystem":{"write":["OUT/a"]}}`,
				[]string{"write|OUT/a/f", "ok", "write|WS/f", "EROFS"}},
			// A file in a writable directory is masked: it looks empty.
			{"hide alone: nothing else changes", `{"filesystem":{"hide":["OUT/a/sub","OUT/b/f"]}}`,
				[]string{"read|OUT/a/f", "read:HOST", "write|OUT/a/f", "ok", "read|OUT/a/sub/f", "ENOENT", "read|OUT/b/f", "ENOENT read:", "create|OUT/b/new", "ok", "write|WS/f", "ok"}},
			{"hide of a file in a directory that is read-only", `{"access_mode":"read-only","filesystem":{"mounts":[{"label":"p","source":"WS","target":"WS","mode":"ro"},{"label":"o","source":"OUT","target":"OUT","mode":"ro"}],"hide":["OUT/b/f"]}}`,
				[]string{"read|OUT/a/f", "read:HOST", "read|OUT/b/f", "read:"}},
			{"a mount, read-only, at the top", `{"filesystem":{"mounts":[{"label":"d","source":"OUT/a","target":"/sbx-e2e-data","mode":"ro"}]}}`,
				[]string{"read|/sbx-e2e-data/f", "read:HOST", "write|/sbx-e2e-data/f", "EROFS", "write|OUT/a/f", "ok", "read|/etc/passwd", "read:"}},
			{"a mount, writable, at the top and deep", `{"access_mode":"read-only","filesystem":{"mounts":[{"label":"d","source":"OUT/a","target":"/sbx-e2e-data/x/y","mode":"rw"}]}}`,
				[]string{"read|/sbx-e2e-data/x/y/f", "read:HOST", "write|/sbx-e2e-data/x/y/f", "ok", "write|WS/f", "EROFS"}},
			{"a mount of a file", `{"access_mode":"workspace-write","filesystem":{"mounts":[{"label":"d","source":"OUT/a/f","target":"/sbx-e2e-file","mode":"ro"}]}}`,
				[]string{"read|/sbx-e2e-file", "read:HOST", "write|/sbx-e2e-file", "EROFS"}},
			{"a tmpfs", `{"access_mode":"workspace-write","filesystem":{"mounts":[{"label":"d","target":"/sbx-e2e-scratch","mode":"tmpfs"}]}}`,
				[]string{"create|/sbx-e2e-scratch/new", "ok", "list|/sbx-e2e-scratch", "[new]"}},
			{"a tmpfs over a directory of the host", `{"filesystem":{"mounts":[{"label":"d","target":"OUT/a","mode":"tmpfs"}]}}`,
				[]string{"read|OUT/a/f", "ENOENT", "create|OUT/a/new", "ok", "read|OUT/b/f", "read:HOST"}},
			{"hide goes before mounts", `{"access_mode":"workspace-write","filesystem":{"hide":["/sbx-e2e-data/f"],"mounts":[{"label":"d","source":"OUT/a","target":"/sbx-e2e-data","mode":"ro"}]}}`,
				[]string{"read|/sbx-e2e-data/f", "read:", "read|/sbx-e2e-data/sub/f", "read:HOST"}},
			{"a link in write opens what it leads to", `{"filesystem":{"write":["OUT/link"]}}`,
				[]string{"write|OUT/a/f", "ok", "write|OUT/link/f", "ok", "write|OUT/b/f", "EROFS"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				b := *b
				b.t = t
				fill := strings.NewReplacer("OUT", o, "WS", b.ws, "BASE", b.base).Replace
				os.Remove(o + "/a/new")
				os.Remove(o + "/b/new")
				argv := []string{b.probe(), "try"}
				var want []string
				for i := 0; i < len(c.want); i += 2 {
					argv = append(argv, fill(c.want[i]))
					want = append(want, c.want[i+1])
				}
				r := b.run(fill(c.spec), argv...).ended()
				got := r.lines()
				for i, a := range argv[2:] {
					if got[a] != want[i] && !oneOf(got[a], want[i]) || strings.Contains(got[a], "HOST") && !strings.Contains(want[i], "HOST") {
						t.Errorf("%s: %q, want %s", a, got[a], want[i])
					}
				}
				b.absent("/sbx-e2e-data")
				b.absent("/sbx-e2e-scratch")
				b.absent("/sbx-e2e-file")
				b.absent(o + "/a/new")
			})
		}
	})
}

// TestLinksThatACommandLeft: links that a command leaves in the workspace do not redirect the paths
// that the next one may write or see by the same spec.
func TestLinksThatACommandLeft(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		must(t, os.Mkdir(b.home+"/.ssh", 0o700))
		b.write(b.home+"/.ssh/id", "secret\n")
		specs := []struct{ spec, attack string }{
			{specWith(specWW, `"filesystem":{"write":["made"]}`), "echo x >made/new"},
			{specWith(specWW, `"filesystem":{"mounts":[{"label":"m","source":"made","target":"/mnt","mode":"rw"}]}`), "echo x >/mnt/new"},
			{specWith(specWW, `"filesystem":{"mounts":[{"label":"m","source":"made","target":"/mnt","mode":"ro"}]}`), "cat /mnt/id"},
			{`{"access_mode":"read-only","filesystem":{"write":["made"]}}`, "echo x >made/new"},
		}
		for _, c := range specs {
			os.Remove(b.ws + "/made")
			must(t, os.Mkdir(b.ws+"/made", 0o755))
			if r := b.sh(c.spec, "ls made").ended(); r.code != 0 {
				t.Errorf("control: a directory: %v", r)
			}
			os.RemoveAll(b.ws + "/made")
			if r := b.sh(specWW, "ln -s "+b.home+"/.ssh made").ended(); r.code != 0 {
				t.Fatalf("%v", r)
			}
			r := b.sh(c.spec, c.attack)
			if r.code != 125 || !strings.Contains(r.err, "leads out of the workspace") || strings.Contains(r.out, "secret") {
				t.Errorf("%s: %v", c.spec, r)
			}
			b.absent(b.home + "/.ssh/new")
		}
		// A link may lead to a place in the workspace, or to a path that the spec names itself.
		os.Remove(b.ws + "/made")
		must(t, os.Mkdir(b.ws+"/real", 0o755))
		must(t, os.Symlink("real", b.ws+"/made"))
		must(t, os.Symlink(b.out, b.ws+"/far"))
		r := b.sh(specWith(specWW, `"filesystem":{"write":["made","far",`+quoted(b.out)+`]}`), "echo x >made/new && echo x >far/new && echo wrote").ended()
		if !strings.Contains(r.out, "wrote") || !exists(b.ws+"/real/new") || !exists(b.out+"/new") {
			t.Errorf("%v", r)
		}
	})
}

func TestFileRulesThatAreErrors(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.run(`{"filesystem":{"read":["@system","/no/such/path"]}}`, "/bin/sh", "-c", "echo end").refused("/no/such/path")
	// A command outside of the visible paths is rejected, with the line to add.
	b.write(b.out+"/prog", "#!/bin/sh\necho end\n")
	must(t, os.Chmod(b.out+"/prog", 0o755))
	r := b.run(`{"filesystem":{"read":["@system","."]}}`, b.out+"/prog").refused("filesystem.read")
	if !strings.Contains(r.err, "hint") {
		t.Errorf("no hint: %v", r)
	}
}

func TestWorkingDirectory(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		must(t, os.Mkdir(b.ws+"/sub", 0o755))
		spec := b.write("specs/s.json", `{"access_mode":"workspace-write","working_dir":"../ws/sub"}`)
		ask := func(args ...string) result {
			return b.plain(append([]string{sbxPath, "exec", "--effective", b.rec}, args...)...)
		}
		for _, c := range []struct {
			args []string
			want string
		}{
			{[]string{"--spec", spec}, b.ws + "/sub"}, // relative to the file's own directory
			{[]string{"--spec-json", `{"working_dir":"sub"}`}, b.ws + "/sub"},
			{nil, b.ws},
		} {
			r := ask(append(c.args, "--", "/bin/sh", "-c", "pwd -P; echo end")...).ended()
			if r.out != c.want+"\nend\n" {
				t.Errorf("%q: %v, want %s", c.args, r, c.want)
			}
		}
		// Without an access_mode, working_dir only determines where the command starts.
		r := ask("--spec-json", `{"working_dir":"sub"}`, "--", "/bin/sh", "-c", "echo x >../up && echo end").ended()
		_ = r
		b.holds(b.ws+"/up", "x\n")
		// Files above the working directory are not writable.
		ask("--spec", spec, "--", "/bin/sh", "-c", "echo x >in; (echo x >../up2) 2>/dev/null; echo end").ended()
		b.holds(b.ws+"/sub/in", "x\n")
		b.absent(b.ws + "/up2")
		// If the working directory is not in view, the command starts at the root or there.
		r = ask("--spec-json", `{"filesystem":{"read":["@system"]}}`, "--", "/bin/sh", "-c", "pwd; echo end").ended()
		if r.out != "/\nend\n" && r.out != b.ws+"\nend\n" {
			t.Errorf("%v", r)
		}
	})
}

func TestJobLayout(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.write("in/data", "DATA")
		must(t, os.Mkdir(b.base+"/output", 0o755))
		b.env = append(b.env, "SECRET_THING=1", "PLAIN_THING=1")
		r := b.plain(sbxPath, "exec", "--effective", b.rec, "--input", b.base+"/in", "--output", b.base+"/output", "--", "/bin/sh", "-c", `
			cat /input/data; (echo x >/input/new) 2>/dev/null || echo input is read-only
			mkdir /output/sub; printf result >/output/sub/r; ln -s /etc/passwd /output/link; printf x >/work/w
			env | grep -c THING; echo end`).ended()
		if r.out != "DATAinput is read-only\n0\nend\n" {
			t.Errorf("%v", r)
		}
		b.holds("output/sub/r", "result")
		b.absent("in/new")
		found := false
		for _, a := range r.rec.list("artifacts") {
			switch a.text("path") {
			case "sub/r":
				found = a.text("sha256") == "f6a214f7a5fcda0c2cee9660b7fc29f5649e3c68aad48e20e950137c98913a68" && a["size"] == 6.0
			case "link":
				if a.text("sha256") != "" {
					t.Error("a link was followed")
				}
			}
		}
		if !found {
			t.Errorf("artifacts: %v", r.rec["artifacts"])
		}
	})
}

func TestEnvironment(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	agent := b.listener(b.base + "/agent")
	agent.expect("ready")
	b.env = append(b.env, "PLAIN=1", "MY_API_KEY=k", "GITHUB_TOKEN=t", "DB_PASSWORD=p", "AWS_SECRET_ACCESS_KEY=a", "LC_TIME=C", "LC_X=y", "EMPTY=",
		"SSH_AUTH_SOCK="+b.base+"/agent", "ODD=a=b", "GOFLAGS=-x")
	names := []string{"PLAIN", "MY_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "LC_TIME", "LC_X", "EMPTY", "SSH_AUTH_SOCK", "ODD", "SET", "HOME"}
	for _, c := range []struct {
		spec string
		want string // the names that exist, in the order above
	}{
		{specNone, "PLAIN MY_API_KEY GITHUB_TOKEN DB_PASSWORD AWS_SECRET_ACCESS_KEY LC_TIME LC_X EMPTY SSH_AUTH_SOCK ODD HOME"},
		{specRO, "PLAIN LC_TIME LC_X EMPTY ODD HOME"},
		{specWith(specRO, `"environment":{"pass":["PATH","*_TOKEN"],"set":{"SET":"v","PLAIN":"2"}}`), "PLAIN GITHUB_TOKEN SET"},
	} {
		argv := []string{b.probe(), "try"}
		for _, n := range names {
			argv = append(argv, "env|"+n)
		}
		got := b.run(c.spec, argv...).ended().lines()
		var there []string
		for _, n := range names {
			if got["env|"+n] != "ENOENT" {
				there = append(there, n)
			}
		}
		if s := strings.Join(there, " "); s != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.spec, s, c.want)
		}
		if v := got["env|ODD"]; v != "ENOENT" && v != "a=b" {
			t.Errorf("ODD is %q", v)
		}
	}
	r := b.run(specWith(specRO, `"environment":{"set":{"A":"1","B":"two words","C":"$HOME"}}`), "/bin/sh", "-c", `echo "$A|$B|$C"; echo end`).ended()
	if r.out != "1|two words|$HOME\nend\n" {
		t.Error(r)
	}
}

func TestReadOnlyMembers(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.write(b.ws+"/f", "WS")
	r := b.sh(specWith(specWW, `"readonly":true`), "(echo x >f) 2>/dev/null || echo refused")
	if r.code != 125 && !(r.code == 0 && r.out == "refused\nend\n") {
		t.Errorf("%v", r)
	}
	b.holds(b.ws+"/f", "WS")
}

// TestDirsUnderBoundOnesStayPrivate: binding a directory above a private one into a sandbox with a
// root of its own does not show the host's contents of the private one.
func TestDirsUnderBoundOnesStayPrivate(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	shared := "/var/tmp/" + uniqueName(t)
	must(t, os.WriteFile(shared, []byte("HOST"), 0o644))
	t.Cleanup(func() { os.Remove(shared) })
	b.write(b.base+"/data/file", "DATA")
	if got := b.control("read|" + shared)["read|"+shared]; got != "read:HOST" {
		t.Fatalf("control: %q", got)
	}
	for _, spec := range []string{
		`{"access_mode":"read-only","filesystem":{"mounts":[{"label":"d","source":"` + b.base + `/data","target":"/` + uniqueName(t) + `","mode":"ro"},{"label":"w","source":"` + b.ws + `","target":"` + b.ws + `","mode":"ro"}]}}`,
		`{"access_mode":"workspace-write","filesystem":{"read":["@system","/var"]}}`,
		`{"access_mode":"workspace-write","filesystem":{"read":["/"]}}`,
	} {
		got := b.tries(spec, "read|"+shared, "create|"+shared+".new", "list|/var/tmp")
		if got["read|"+shared] != "ENOENT" || got["create|"+shared+".new"] != "ok" {
			t.Errorf("%s: %q", spec, got)
		}
	}
}
