package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// pairWorld is a small tree with links, a home with secrets, a repository, and listeners: the place
// of a pair of random documents.
type pairWorld struct {
	*box
	list string          // names the paths that the probe tries
	port string          // of a listener of the host
	host map[string]bool // the host's own facts, in the probe's words

	job   []string // the flags of a job layout, of the present pair
	wrong int      // pairs that broke a property
}

func newPairWorld(t *testing.T, root string) *pairWorld {
	w := &pairWorld{box: boxIn(t, root), host: map[string]bool{}}
	for _, f := range []string{"w/f", "w/a/f", "w/a/c/f", "w/b/f", "w/b/.git/config", "w/b/.git/HEAD", "w/.envrc", "o/f", "o/p/f", "m/f", "home/f", "home/p/f", "home/.ssh/id", "home/.netrc"} {
		w.write(f, "text of "+f)
	}
	for link, to := range map[string]string{"w/la": "a", "w/lout": "../o", "w/a/lb": "../b", "w/a/c/up": "..", "o/li": "../w/a", "w/lf": "../o/f", "home/keys": ".ssh", "w/keys": "../home/.ssh", "o/p/keys": "../../home/.netrc"} {
		must(t, os.Symlink(to, w.base+"/"+link))
	}
	for _, d := range []string{"bin", "rec", "bin/other"} {
		must(t, os.Mkdir(w.base+"/"+d, 0o755))
	}
	w.env[0] = "PATH=" + w.base + "/bin:" + strings.TrimPrefix(w.env[0], "PATH=")
	for _, name := range []string{"probe", "tool", "other/tool"} {
		w.copyProbe(w.base + "/bin/" + name)
	}
	text, err := os.ReadFile(sbxPath)
	must(t, err)
	must(t, os.WriteFile(w.base+"/bin/sbx", text, 0o755))
	for _, s := range []string{"w/a/sock", "o/sock"} {
		w.listens(net.Listen("unix", w.base+"/"+s))
	}
	l := w.listens(net.Listen("tcp4", "127.0.0.1:0"))
	w.port = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	w.paths()
	return w
}

func (w *pairWorld) listens(l net.Listener, err error) net.Listener {
	must(w.t, err)
	w.t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			c.Close()
		}
	}()
	return l
}

// paths writes the list of attempts: all of the tree, also through links, and paths that a mount
// could show there.
func (w *pairWorld) paths() {
	names := []string{"", "w", "o", "m", "home"}
	tails := []string{"", "/f", "/c", "/c/f", "/p", "/p/f", "/sock", "/.git/config", "/.git/HEAD", "/.git", "/.ssh/id", "/.netrc", "/.envrc", "/a", "/a/f", "/a/sock", "/a/c", "/a/c/f", "/b", "/b/f", "/b/.git/config", "/li/f", "/lf", "/.ssh", "/keys/id"}
	for _, d := range []string{"w", "w/a", "w/a/c", "w/b", "w/la", "w/lout", "w/a/lb", "w/a/c/up", "o", "o/p", "m", "home"} {
		for _, tail := range tails {
			names = append(names, d+tail)
		}
	}
	filepath.WalkDir(w.base, func(path string, d os.DirEntry, err error) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(path, w.base), "/")
		if strings.HasPrefix(rel, "bin") || strings.HasPrefix(rel, "rec") || strings.HasPrefix(rel, "state") {
			return nil
		}
		names = append(names, rel)
		for _, target := range pairTargets {
			names = append(names, target+"/"+rel)
		}
		return nil
	})
	slices.Sort(names)
	var all []string
	for _, n := range slices.Compact(names) {
		all = append(all, w.base+"/"+n)
	}
	for _, virtual := range []string{"/a", "/b", "/w", "/la", "/c", "/input", "/output"} { // of a workshop's tree, and a job's
		all = append(all, virtual+"/f", virtual, virtual+"/c/f")
	}
	w.list = w.write("bin/list", strings.Join(all, "\n")+"\n")
	filepath.WalkDir(w.base, func(path string, d os.DirEntry, err error) error {
		if info, err := os.Stat(path); err == nil {
			st := info.Sys().(*syscall.Stat_t)
			w.host[fmt.Sprintf("%d:%d", st.Dev, st.Ino)] = true
		}
		return nil
	})
}

// pairMaker writes random documents over a pairWorld.
type pairMaker struct {
	*rand.Rand
	at string
}

var pairDirs = []string{"w", "w/a", "w/a/c", "w/b", "w/la", "w/lout", "w/a/lb", "w/a/../b", "o", "o/p", "o/li", "home", "home/p", ""}

var pairTargets = []string{"m", "w/b", "o", "w/a", "new/place"}

var pairFiles = []string{"w/f", "w/a/f", "w/lf", "o/f", "o/p/f", "home/f", "home/.netrc", "home/.ssh", "home/keys", "w/keys", "o/p/keys", "w/b/.git", "w/b/.git/config", "w/.envrc"}

func (m *pairMaker) chance(percent int) bool { return m.IntN(100) < percent }

func (m *pairMaker) of(words ...string) string { return words[m.IntN(len(words))] }

func (m *pairMaker) path() string {
	if m.chance(25) {
		return m.at + "/" + m.of(pairFiles...)
	}
	if m.chance(15) { // from the directory in which the command starts, or one above
		return m.of("f", "keys", "p", "..", "../o", "../home/.ssh", "a", ".")
	}
	return m.at + "/" + m.of(pairDirs...)
}

// some returns one to three paths, after those that every list has.
func (m *pairMaker) some(first ...string) string {
	for range m.IntN(3) + 1 {
		first = append(first, m.path())
	}
	for i := range first {
		first[i] = quoted(first[i])
	}
	return "[" + strings.Join(first, ", ") + "]"
}

// document returns a random document. A child's restrict is relative to its parent's root. If the
// document has a list, the programs are in view and a record can be kept.
func (m *pairMaker) document(child bool) string {
	var all []string
	add := func(percent int, field string, value func() string) {
		if m.chance(percent) {
			all = append(all, `"`+field+`": `+value())
		}
	}
	word := func(words ...string) func() string { return func() string { return quoted(m.of(words...)) } }
	bare := func(words ...string) func() string { return func() string { return m.of(words...) } }
	add(50, "access_mode", word("read-only", "workspace-write", "workspace-write", "danger-full-access"))
	add(30, "working_dir", func() string { return quoted(m.at + "/" + m.of(pairDirs...)) })
	add(8, "readonly", bare("true", "true", "false"))
	add(12, "max_commands", bare("0", "1", "2", "3", "9"))
	add(8, "on_exceed", word("kill", "deny", "record"))
	add(8, "limits", func() string { return `{"open_files": ` + m.of("64", "128") + "}" })
	add(10, "best_effort", func() string { return m.of(`["*"]`, `["access_mode"]`, `["filesystem.read", "network"]`) })
	add(20, "network", func() string { return `{"mode": ` + m.of(`"none"`, `"host"`) + "}" })
	add(30, "environment", m.environment)
	add(20, "commands", m.commands)
	add(70, "filesystem", m.filesystem)
	if child {
		add(12, "restrict", word("/", "/a", "/la", "/a/c", "/lout", "/a/../b", "/c", "/a/c/up"))
	}
	add(15, "sandbox", func() string {
		root := `{"root": ` + quoted(m.at+"/"+m.of("w", "w/a", "w/la", "w/lout", "o", ""))
		return root + m.of("", "", `, "readonly": true`, `, "readonly": false`) + "}"
	})
	return "{" + strings.Join(all, ", ") + "}"
}

func (m *pairMaker) environment() string {
	pass := []string{`"PATH"`, `"HOME"`}
	for _, v := range []string{`"PAIR_*"`, `"PAIR_A"`, `"API_TOKEN"`, `"*"`} {
		if m.chance(30) {
			pass = append(pass, v)
		}
	}
	parts := []string{}
	if m.chance(70) {
		parts = append(parts, `"pass": [`+strings.Join(pass, ", ")+"]")
	}
	if m.chance(40) {
		parts = append(parts, `"set": {`+quoted(m.of("PAIR_A", "PAIR_NEW", "API_TOKEN", "LD_PRELOAD"))+`: ""}`)
	} else if m.chance(30) {
		parts = append(parts, `"set": {"PATH": `+quoted(m.at+m.of("/bin", "/bin/other", "/bin/other:"+m.at+"/bin"))+"}")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (m *pairMaker) commands() string {
	bin := m.at + "/bin/"
	if m.chance(50) {
		return `{"deny": [` + quoted(m.of(bin+"tool", bin+"probe2", "true", "tool", "tool")) + "]}"
	}
	allow := []string{quoted(bin + "probe"), quoted(bin + "sbx")}
	if m.chance(50) {
		allow = append(allow, quoted(m.of(bin+"tool", bin, "true", "tool", "tool")))
	}
	return `{"allow": [` + strings.Join(allow, ", ") + "]}"
}

func (m *pairMaker) filesystem() string {
	var parts []string
	add := func(percent int, field string, value func() string) {
		if m.chance(percent) {
			parts = append(parts, `"`+field+`": `+value())
		}
	}
	add(35, "read", func() string {
		first := []string{m.at + "/bin"}
		if m.chance(75) {
			first = append(first, "@system")
		}
		return m.some(first...)
	})
	add(40, "write", func() string {
		first := []string{m.at + "/rec"}
		if m.chance(15) {
			first = append(first, m.of("**/.git", m.at+"/w/.git", m.at+"/w/b/.git"))
		}
		return m.some(first...)
	})
	add(30, "hide", func() string { return m.some(m.at + "/nothing") })
	add(20, "mounts", func() string {
		one := func(target string) string {
			mount := `{"label": "l", "target": ` + quoted(m.at+"/"+target)
			if m.chance(25) {
				return mount + `, "mode": "tmpfs"}`
			}
			return mount + `, "source": ` + quoted(m.path()) + `, "mode": ` + quoted(m.of("ro", "rw")) + "}"
		}
		last := len(pairTargets) - 1
		all := one(m.of(pairTargets[:last]...))
		if m.chance(30) {
			all += ", " + one(pairTargets[last])
		}
		return "[" + all + "]"
	})
	return "{" + strings.Join(parts, ", ") + "}"
}
