package wrap_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sbx/internal/view"
	"sbx/wrap"
	"sbx/wrap/defaults"
	"sbx/wrap/world"
)

// meaningWorld has the paths of the documents of TestMeaning. OUT is a directory outside of the
// workspace that no private directory covers.
const meaningWorld = `
file /usr/bin/make
dir /etc
file /etc/passwd
dir /tmp
dir /var/tmp
dir /dev/shm
dir /home/u/w
file /home/u/w/f
file /home/u/note
file /home/u/.netrc
file /home/u/.ssh/id
file /srv/out/a/f
file /srv/out/a/sub/f
file /srv/out/a/sub/deep/f
file /srv/out/b/f
link /srv/out/link a
`

// TestMeaning checks what access a document gives the command to a path: the meaning of each rule,
// and which of two rules decides. The tests of e2e check that the kernel enforces it, one for each
// mechanism, and TestViewIsWhatAProbeFinds for random documents.
func TestMeaning(t *testing.T) {
	const ro, ww, full = `"access_mode":"read-only"`, `"access_mode":"workspace-write"`, `"access_mode":"danger-full-access"`
	for _, c := range []struct {
		members string
		// want is "PATH ACCESS" separated by commas. "=SOURCE" follows if the path shows another
		// path of the host; an empty SOURCE is the sandbox's own. "host" is the unchanged host.
		want string
	}{
		// These are the modes. /tmp is the sandbox's own, and with a list so is the home.
		{ro, "WS/f read-only, OUT/a/f read-only, HOME/note read-only, HOME/.netrc hidden, /etc/passwd read-only, /tmp/x writable=, /var/tmp/x writable=, /dev/shm/x writable="},
		{ww, "WS/f writable, WS/new writable, OUT/a/f read-only, HOME/note read-only, HOME/.netrc hidden, /etc/passwd read-only, /tmp/x writable=, /var/tmp/x writable=, /dev/shm/x writable="},
		{full, "host"},
		{``, "host"},

		// These are lists. Without a mode, the first shows only the paths of the list.
		{`"filesystem":{"read":["@system","OUT/a","."]}`, "OUT/a/f read-only, OUT/b/f absent, HOME/note writable=, /etc/passwd read-only, WS/f read-only"},
		{ww + `,"filesystem":{"read":["@system","OUT/a"]}`, "OUT/a/f read-only, OUT/b/f absent, WS/f writable"},
		{`"filesystem":{"write":["OUT/a"]}`, "OUT/a/f writable, OUT/b/f read-only, WS/f read-only"},
		{`"filesystem":{"write":[]}`, "OUT/a/f read-only, WS/f read-only"},
		{ww + `,"filesystem":{"write":["OUT/a/sub"]}`, "WS/f writable, OUT/a/sub/f writable, OUT/a/sub/deep/f writable, OUT/a/f read-only"},
		{ro + `,"filesystem":{"write":["OUT/a"]}`, "OUT/a/f writable, WS/f read-only"},
		{`"filesystem":{"hide":["OUT/a/sub","OUT/b/f"]}`, "OUT/a/f writable, OUT/a/sub hidden, OUT/a/sub/f absent, OUT/b/f hidden, OUT/b/new writable, WS/f writable"},
		{`"filesystem":{"hide":["OUT/none","~/none/none"]}`, "OUT/a/f writable"},
		{full + `,"filesystem":{"write":["OUT/a"]}`, "OUT/a/f writable, OUT/b/f read-only"},
		{ww + `,"filesystem":{"write":["../../../srv/out/b"]}`, "OUT/b/f writable, OUT/a/f read-only"},
		{`"filesystem":{"write":["OUT/link"]}`, "OUT/a/f writable, OUT/b/f read-only"},

		// These show which rule decides: hide before mounts, mounts before write, write before
		// read.
		{`"filesystem":{"write":["OUT/a"],"hide":["OUT/a/sub"]}`, "OUT/a/f writable, OUT/a/sub/f absent"},
		{`"filesystem":{"read":["@system","OUT/a","."],"hide":["OUT/a/sub"]}`, "OUT/a/f read-only, OUT/a/sub/f absent"},
		{`"filesystem":{"read":["@system","OUT","."],"write":["OUT/a/sub"]}`, "OUT/a/sub/f writable, OUT/a/f read-only, OUT/b/f read-only"},
		{ww + `,"filesystem":{"write":["OUT/a"],"mounts":[{"label":"d","source":"OUT/b","target":"OUT/a/sub","mode":"ro"}]}`,
			"OUT/a/f writable, OUT/a/sub/f read-only=OUT/b/f, OUT/a/sub/deep read-only=OUT/b/deep"},
		{ww + `,"filesystem":{"hide":["/data/f"],"mounts":[{"label":"d","source":"OUT/a","target":"/data","mode":"ro"}]}`,
			"/data/f hidden, /data/sub/f read-only=OUT/a/sub/f"},

		// These are mounts.
		{`"filesystem":{"mounts":[{"label":"d","source":"OUT/a","target":"/data","mode":"ro"}]}`, "/data/f read-only=OUT/a/f, OUT/a/f writable, /etc/passwd writable"},
		{ro + `,"filesystem":{"mounts":[{"label":"d","source":"OUT/a","target":"/data/x/y","mode":"rw"}]}`, "/data/x/y/f writable=OUT/a/f, WS/f read-only"},
		{ww + `,"filesystem":{"mounts":[{"label":"d","source":"OUT/a/f","target":"/file","mode":"ro"}]}`, "/file read-only=OUT/a/f"},
		{ww + `,"filesystem":{"mounts":[{"label":"d","target":"/scratch","mode":"tmpfs"}]}`, "/scratch/new writable="},
		{`"filesystem":{"mounts":[{"label":"d","target":"OUT/a","mode":"tmpfs"}]}`, "OUT/a/f writable=, OUT/b/f writable"},

		// A secret is opened by its own path or one under it, and not by a directory above it.
		{ww + `,"filesystem":{"write":["WS"]}`, "HOME/.netrc hidden, HOME/.ssh/id absent"},
		{ww + `,"filesystem":{"read":["/"]}`, "HOME/.netrc hidden, HOME/.ssh/id absent"},
		{ww + `,"filesystem":{"read":["@system","~"]}`, "HOME/.netrc hidden, HOME/.ssh/id absent"},
		{ww + `,"filesystem":{"read":["@system","~/.netrc"]}`, "HOME/.netrc read-only, HOME/.ssh/id writable="},
		{ww + `,"filesystem":{"read":["@system","~/.ssh"]}`, "HOME/.netrc writable=, HOME/.ssh/id read-only"},
		{ww + `,"filesystem":{"read":["@system","~/.ssh/id"]}`, "HOME/.netrc writable=, HOME/.ssh/id read-only"},
		{ww + `,"filesystem":{"read":["@system","~","~/.netrc","~/.ssh"]}`, "HOME/.netrc read-only, HOME/.ssh/id read-only"},
		{ww + `,"filesystem":{"write":["~/.netrc"]}`, "HOME/.netrc writable, HOME/.ssh/id absent"},
		{ww + `,"filesystem":{"write":["~/.ssh"]}`, "HOME/.netrc hidden, HOME/.ssh/id writable"},
		{ww + `,"filesystem":{"read":["@system","~/.netrc"],"hide":["~/.netrc"]}`, "HOME/.netrc writable="},
	} {
		fill := strings.NewReplacer("OUT", "/srv/out", "WS", "/home/u/w", "HOME", "/home/u").Replace
		_, plan, err := world.New(t, meaningWorld).Build(fill("{" + c.members + "}"))
		if err != nil {
			t.Errorf("%s: %v", c.members, err)
			continue
		}
		if (plan.Base == wrap.BaseHost) != (c.want == "host") {
			t.Errorf("%s: the root is %v", c.members, plan.Base)
		}
		if c.want == "host" {
			continue
		}
		for _, w := range strings.Split(fill(c.want), ", ") {
			path, want, _ := strings.Cut(w, " ")
			want, source, moved := strings.Cut(want, "=")
			if !moved {
				source = path
			}
			g := plan.View.At(path)
			if g.Access.String() != want || g.Access >= view.Read && g.Source != source {
				t.Errorf("%s: %s is %v of %q, not %s of %q", c.members, path, g.Access, g.Source, want, source)
			}
		}
	}
}

// TestMeaningOfSecrets holds documents to which files of a home are in view: none of those in
// which programs keep keys but what the document names.
func TestMeaningOfSecrets(t *testing.T) {
	text, err := os.ReadFile("../testdata/secrets.txt")
	if err != nil {
		t.Fatal(err)
	}
	var secret, plain []string
	for line := range strings.Lines(string(text)) {
		switch name, is := strings.CutPrefix(strings.TrimSpace(line), "+"); {
		case name == "" || name[0] == '#':
			continue
		case is:
			plain = append(plain, name)
		default:
			secret = append(secret, name)
		}
	}
	if len(secret) < 300 || len(plain) < 50 {
		t.Fatalf("%d secrets and %d others", len(secret), len(plain))
	}
	shows := func(doc string, named ...string) {
		t.Helper()
		w := world.New(t, meaningWorld)
		for _, name := range slices.Concat(secret, plain) {
			w.Add("/home/u/"+name, world.Node{Kind: wrap.File})
		}
		_, plan, err := w.Build(doc)
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		for _, name := range slices.Concat(secret, plain) {
			want := slices.Contains(plain, name) || slices.Contains(named, name)
			path := "/home/u/" + name
			if g := plan.View.At(path); (g.Access >= view.Read && g.Source == path) != want {
				t.Errorf("%s: %s is %v", doc, name, g.Access)
			}
		}
	}
	shows(`{"access_mode":"read-only"}`)
	shows(`{"access_mode":"workspace-write"}`)
	shows(`{"access_mode":"read-only","filesystem":{"read":["/","~"]}}`)
	for some := range slices.Chunk(secret, 16) { // a Plan has room for 40 directories of its own
		shows(`{"access_mode":"read-only","filesystem":{"read":["/","~/`+strings.Join(some, `","~/`)+`"]}}`, some...)
	}
	secret = nil // and then one for each row of the table
	for _, row := range defaults.Secrets() {
		if path, home := strings.CutPrefix(strings.ReplaceAll(row.Path, "*", "0"), "~/"); home && row.File {
			secret = append(secret, path)
		} else if home {
			secret = append(secret, path+"/canary")
		}
	}
	shows(`{"access_mode":"workspace-write"}`)
}

// TestMeaningOfCommands holds documents to whether a command may start under them, and to
// what is said where it may not. The command is make.
func TestMeaningOfCommands(t *testing.T) {
	const script = "file /home/u/w/run\nprogram /home/u/w/run /usr/bin/sh"
	for _, c := range []struct{ commands, facts, want string }{
		{`"allow":[]`, "", `commands.allow: ["make"] would allow it`},
		{`"allow":["sh"]`, "", `commands.allow: ["sh", "make"] would allow it`},
		{`"allow":["/usr/bin/make"]`, "", ""},
		{`"allow":["/usr/bin/"]`, "", ""},
		{`"allow":["./run"]`, script, `commands.allow: ["./run", "/usr/bin/sh"] would allow it`},
		{`"allow":["./run","sh"]`, script, ""},
		{`"allow":["make","mkae"]`, "", "nothing on the command's PATH has that name"},
		{`"allow":["make","./none"]`, "", "/home/u/w/none does not exist"},
		{`"allow":["make","./none/"]`, "", "/home/u/w/none does not exist"},
		{`"allow":["make","./f"]`, "linked /home/u/w/f", "such a file has another name"},
		{`"deny":["make"]`, "", "take it out of commands.deny"},
		{`"deny":["/usr/bin/make"]`, "", "take it out of commands.deny"},
		{`"deny":["sh"]`, script, "take it out of commands.deny"},
		{`"deny":["/usr/"]`, "", "/usr is a directory"},
		{`"deny":["none","./none"]`, "", ""},
		{`"allow":["make"],"deny":["make"]`, "", "commands.deny names /usr/bin/make"},
	} {
		_, _, err := world.New(t, meaningWorld, "file /usr/bin/sh", c.facts).Build(`{"access_mode":"workspace-write","commands":{` + c.commands + `}}`)
		got := ""
		if err != nil {
			got = world.ProblemText(t, err)
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.commands, got, c.want)
		}
	}
}
