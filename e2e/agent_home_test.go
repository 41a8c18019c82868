package e2e

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// agentElsewhere returns a box whose home no private directory covers. On a host where an ordinary
// user cannot write such a place, the test is skipped with that reason.
func agentElsewhere(t *testing.T) *box {
	t.Helper()
	needSandbox(t)
	b := elsewhereBox(t)
	b.furnish()
	return b
}

// furnish fills a home with the files of people and agents, with secrets.
func (b *box) furnish() {
	h := b.home + "/"
	for path, text := range map[string]string{".bashrc": "rc\n", ".profile": "profile\n", ".claude.json": `{"n": 1}`, "docs/a": "a\n", "docs/deep/b": "b\n",
		".ssh/id": "s3cret\n", ".netrc": "s3cret\n", ".config/gh/hosts.yml": "s3cret\n", ".config/app/settings": "app\n",
		".codex/config.toml": "model\n", ".codex/skills/s/SKILL.md": "skill\n", ".codex/log": "log\n",
		".claude/settings.json": "{}\n", ".claude/projects/p": "p\n", ".local/bin/tool": "#!/bin/sh\necho tool\n"} {
		b.write(h+path, text)
	}
	must(b.t, os.Chmod(h+".local/bin/tool", 0o755))
	must(b.t, os.Link(h+".bashrc", h+"hard"))
	must(b.t, os.Symlink("docs", h+"linked"))
	must(b.t, syscall.Mkfifo(h+"fifo", 0o600))
	b.probe()
}

// agent runs a shell script as if it were the agent of that name: sbx recognises it by the name, in
// a place where no command can have put it.
func (b *box) agent(name, spec, script string) result {
	b.t.Helper()
	b.write(b.ws+"/run.sh", script+"\necho end\n")
	b.write(b.out+"/"+name, "#!/bin/sh\nexec /bin/sh "+b.ws+"/run.sh\n")
	must(b.t, os.Chmod(b.out+"/"+name, 0o755))
	return b.run(spec, b.out+"/"+name)
}

// agentTries runs attempts of the probe as an agent would.
func (b *box) agentTries(name, spec string, attempts ...string) map[string]string {
	b.t.Helper()
	return b.agent(name, spec, tryScript(b, attempts)).ended().lines()
}

func tryScript(b *box, attempts []string) string {
	var s strings.Builder
	s.WriteString(b.probe() + " try")
	for _, a := range attempts {
		s.WriteString(" '" + a + "'")
	}
	return s.String() + " | grep -v '^end$'"
}

// snapshot returns the contents of a directory of the host, without the names in left.
func (b *box) snapshot(dir string, left ...string) map[string]string {
	b.t.Helper()
	all := map[string]string{}
	must(b.t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(path, dir+"/")
		if slices.Contains(left, rel) {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		text := ""
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = fmt.Sprintf("%x", sha256.Sum256(content))
		}
		all[rel] = fmt.Sprint(info.Mode(), st.Uid, st.Gid, st.Nlink, st.Ino, info.ModTime().UnixNano(), info.Size(), text)
		return nil
	}))
	return all
}

func differ(was, is map[string]string) (names []string) {
	for n, v := range was {
		if is[n] != v {
			names = append(names, n)
		}
	}
	for n := range is {
		if _, had := was[n]; !had {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// changes is a script that changes a home in every possible way, and prints for each step whether
// it succeeded.
const changes = `
step() { n=$1; shift; if "$@" >/dev/null 2>&1; then echo "$n	ok"; else echo "$n	no"; fi; }
cd ~
step append sh -c 'echo more >>.bashrc'
step rewrite sh -c 'echo new >.profile'
step replace sh -c 'echo "{\"n\": 2}" >.claude.json.tmp.1 && mv .claude.json.tmp.1 .claude.json'
step remove rm docs/a
step removeall rm -r docs/deep
step again mkdir docs/deep
step make sh -c 'echo x >made'
step mkdir mkdir -p new/deep
step chmod chmod 600 .bashrc
step touch touch -d 2001-01-01 .config/app/settings
step link ln .config/app/settings linked-again
step through sh -c 'echo more >>linked-again'
step symlink sh -c 'rm linked && ln -s / linked'
step dots sh -c 'echo x >docs/../dots'
step rename mv .config/app .config/moved
step truncate truncate -s 0 .local/bin/tool
step setuid chmod 4755 .local/bin/tool
step settings sh -c 'echo "{}" >.claude/settings.json.new && mv .claude/settings.json.new .claude/settings.json'
step home chmod 700 .
cat .claude.json
`

// An agent can change everything in its home, and none of that reaches the host.
func TestAgentHomeIsALayer(t *testing.T) {
	for _, spec := range []string{specWW, specRO} {
		b := agentElsewhere(t)
		before := b.snapshot(b.home, ".codex")
		r := b.agent("codex", spec, changes).ended()
		for name, got := range r.lines() {
			if got != "ok" {
				t.Errorf("%s: %s", name, got)
			}
		}
		if len(r.lines()) < 19 || !strings.Contains(r.out, `{"n": 2}`) {
			t.Errorf("not all was tried: %v", r)
		}
		if names := differ(before, b.snapshot(b.home, ".codex")); len(names) > 0 {
			t.Errorf("the host's home was changed: %q", names)
		}
		if s := r.rec.status("home"); s != "enforced" || !strings.Contains(r.rec.reason("home"), "except for ~/.codex is its own copy and ends with it") {
			t.Errorf("the line says %s: %s", s, r.rec.reason("home"))
		}
		// The controls: without the agent's name the home is read-only, and without a sandbox it
		// changes.
		b.write(b.ws+"/run.sh", changes+"echo end\n")
		for name, got := range b.run(spec, "/bin/sh", b.ws+"/run.sh").lines() {
			if got == "ok" {
				t.Errorf("control: %s went through where nobody is an agent", name)
			}
		}
		if names := differ(before, b.snapshot(b.home, ".codex")); len(names) > 0 {
			t.Errorf("control: %q changed", names)
		}
		b.plain("/bin/sh", b.ws+"/run.sh").ended()
		if names := differ(before, b.snapshot(b.home, ".codex")); len(names) < 15 {
			t.Errorf("control: without a sandbox only %q changed", names)
		}
	}
}

// uncover tries to see a secret through the layer.
const uncover = `
cd ~
for s in .ssh .netrc .config/gh/hosts.yml .config/gh; do
  rm -rf $s; mknod $s c 0 0; ls -d $s; mkdir -p $s; rmdir $s; echo x >$s; rm -f $s; ln -s .bashrc $s; rm -f $s; mkdir -p $s
done
mv .config .c; rm -rf .config; mkdir -p .config/gh; mv .c .config
mkdir o; PROBE try "setxattr|$HOME/.config" "setxattr|$HOME/o"
python3 - <<'P' || true
import os
for d in (".", ".config", ".config/gh", ".ssh", "o"):
    for n, v in (("opaque", b"y"), ("redirect", b"/.ssh"), ("metacopy", b""), ("origin", b"x"), ("whiteout", b"y"), ("overlay.opaque", b"y")):
        for space in ("user", "trusted"):
            try: os.setxattr(d, space + ".overlay." + n, v)
            except OSError: pass
            try: os.removexattr(d, space + ".overlay." + n)
            except OSError: pass
P
up=$(sed -n 's/.*upperdir=\([^,]*\).*/\1/p' /proc/self/mountinfo | head -n 1)
work=$(sed -n 's/.*workdir=\([^,]*\).*/\1/p' /proc/self/mountinfo | head -n 1)
ls -d "$up" "$work" "${up%/*}"/layer* && echo "the layer is in view"
for p in / /proc/1/root /proc/self/root /proc/self/cwd/..; do ls -d $p$up && echo "the layer is in view by $p"; done
umount ~ ; umount -l ~/.codex; mount -t tmpfs none ~/o
grep -rsl s3cret ~ /tmp /run "$PWD" | grep -v run.sh
find ~ -name id -o -name hosts.yml
`

// Hidden files stay hidden, whatever the agent does to the layer.
func TestAgentLayerHidesSecrets(t *testing.T) {
	hosts := map[string][]string{"codex": nil, "claude": refusing(t, "setattr")}
	if isRoot() { // root's layer is mounted with its capabilities on the host
		hosts["gemini"] = refusing(t, "userns")
	}
	for name, host := range hosts {
		b := agentElsewhere(t)
		b.host = host
		script := strings.ReplaceAll(uncover, "PROBE", b.probe())
		r := b.agent(name, specWW, script).ended()
		for _, word := range []string{"s3cret", "/.ssh/id", "hosts.yml\n", "in view", ".netrc\n"} {
			if strings.Contains(strings.ReplaceAll(r.out, "end\n", ""), word) {
				t.Errorf("%s shows through: %v", word, r)
			}
		}
		if r.rec.status("home") != "enforced" {
			t.Errorf("%s", r.rec.reason("home"))
		}
		for path, want := range map[string]string{".ssh/id": "s3cret\n", ".netrc": "s3cret\n", ".config/gh/hosts.yml": "s3cret\n"} {
			b.holds(b.home+"/"+path, want)
		}
		if s := r.rec.status("secrets"); s != "enforced" {
			t.Errorf("secrets: %s, %s", s, r.rec.reason("secrets"))
		}
		if found := b.plain("grep", "-rsl", "s3cret", b.home); strings.Count(found.out, "\n") != 3 {
			t.Errorf("control: %v", found)
		}
	}
}

// Paths that are bound into the layer keep their rules, and the directories that lead to them keep
// their names.
func TestAgentLayerLeavesTheRest(t *testing.T) {
	b := agentElsewhere(t)
	ws := b.home + "/work" // the workspace lies in the home
	must(t, os.Mkdir(ws, 0o755))
	b.ws = ws
	h := b.home
	b.write(ws+"/file", "one\n")
	b.write(ws+"/.git/config", "[core]\n")
	b.write(ws+"/.git/HEAD", "ref: refs/heads/main\n")
	attempts := []string{
		"write|" + ws + "/file", "create|" + ws + "/new", "rename|" + ws + "|" + h + "/moved", "rename|" + h + "/docs|" + ws + "/docs",
		"link|" + ws + "/file|" + h + "/linked-file", "link|" + h + "/.bashrc|" + ws + "/linked-rc", "exchange|" + ws + "/file|" + h + "/.bashrc",
		"rename|" + h + "/docs|" + h + "/docs2", "write|" + ws + "/.git/config", "create|" + ws + "/.envrc", "create|" + h + "/.envrc",
	}
	for spec, want := range map[string][]string{
		specWW: {"ok", "ok", "EBUSY", "EXDEV", "EXDEV", "EXDEV", "EXDEV", "EXDEV", "EROFS", "EPERM", "ok"},
		specRO: {"EROFS", "EROFS", "EBUSY", "EXDEV", "EXDEV", "EROFS", "EXDEV", "EXDEV", "EROFS", "EROFS", "ok"},
	} {
		got := b.agentTries("codex", spec, attempts...)
		for i, a := range attempts {
			if got[a] != want[i] {
				t.Errorf("%s: %s: %s, want %s", spec, a, got[a], want[i])
			}
		}
		b.absent(h + "/.envrc")
		b.absent(h + "/linked-file")
		b.holds(h+"/docs/a", "a\n")
		os.Remove(ws + "/new")
	}
}

// The layer counts as memory of the sandbox and ends with it. A full layer hits the limit if a
// control group enforces one, else it acts like a full disk. The host's files that are changed in
// it are not affected.
func TestAgentLayerFills(t *testing.T) {
	b := agentElsewhere(t)
	b.write(b.home+"/large", strings.Repeat("0123456789abcdef", 1<<20))
	before := b.snapshot(b.home)
	spec := `{"access_mode": "workspace-write", "limits": {"memory": "64MiB"}, "best_effort": ["limits"]}`
	r := b.agent("codex", spec, `cd ~
echo x >>large; echo copied
cat large large large large large >filled && echo not full
rm -f filled; echo after >after; cat after`)
	if byLimit := r.code == 137 && strings.Contains(r.rec.by("limits.memory"), "cgroup"); !byLimit && !(r.code == 0 && strings.Contains(r.out, "after")) ||
		!strings.Contains(r.out, "copied") || strings.Contains(r.out, "not full") {
		t.Errorf("%v", r)
	}
	if names := differ(before, b.snapshot(b.home)); len(names) > 0 {
		t.Errorf("%q changed", names)
	}
}

// Files that an agent writes in the layer of its home cannot be executed if commands.allow names
// their directory, or one above. The workspace and the agent's own state in there stay writable.
func TestAgentHomeThatMayBeExecuted(t *testing.T) {
	b := agentElsewhere(t)
	must(t, os.Mkdir(b.home+"/work", 0o755))
	b.ws = b.home + "/work"
	const script = `echo w >w && echo workspace
echo q >~/.claude/projects/q && echo own
printf '#!/bin/sh\necho ran\n' >~/made && chmod 755 ~/made && ~/made
~/.local/bin/tool`
	hosts := map[string][]string{"": nil, "degraded": refusing(t, "whiteout")} // by how the home can be shown at best
	for _, c := range []struct{ allow, want, status string }{
		{"", "workspace\nown\nran\ntool\nend\n", "enforced"},
		{b.home + "/", "workspace\nown\ntool\nend\n", "degraded"},
		{b.base + "/", "workspace\nown\ntool\nend\n", "degraded"},
		{b.home + "/.local/", "workspace\nown\ntool\nend\n", "enforced"},
	} {
		for lesser, host := range hosts {
			b.host = host
			spec := specWW
			if c.allow != "" {
				spec = `{"access_mode": "workspace-write", "commands": {"allow": ["sh", "chmod", "` + b.out + `/claude", "` + c.allow + `"]}}`
			}
			r := b.agent("claude", spec, script).ended()
			if r.out != c.want || r.rec.status("home") != cmp.Or(lesser, c.status) || (c.status == "degraded") != strings.Contains(r.rec.reason("home"), b.home+" may only be read") {
				t.Errorf("%q %s: %v\n%s", c.allow, lesser, r, r.rec.reason("home"))
			}
			b.holds(b.ws+"/w", "w\n")
			b.holds(b.home+"/.claude/projects/q", "q\n")
			must(t, os.Remove(b.ws+"/w"))
			must(t, os.Remove(b.home+"/.claude/projects/q"))
			b.absent(b.home + "/made")
		}
	}
}
