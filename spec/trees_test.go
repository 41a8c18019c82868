package spec

import (
	"strings"
	"testing"
)

// links is a world with links that an earlier command may have left: in the caller's current
// directory (/ws), in the spec's directory (/specs) and in a writable directory of specs (/data).
// It also has links of the host elsewhere.
var links = tree{
	"/home": "dir", "/home/u": "dir", "/home/u/.ssh": "dir", "/home/u/.ssh/id": "file", "/home/u/proj": "-> /ws", "/home/u/keys": "-> .ssh",
	"/bin": "-> usr/bin", "/usr": "dir", "/usr/bin": "dir", "/usr/bin/tool": "file", "/host": "-> /out",
	"/out": "dir", "/out/f": "file", "/out/back": "-> /ws/sub", "/specs": "dir", "/specs/out": "-> /out", "/specs/in": "-> deep", "/specs/deep": "dir",
	"/data": "dir", "/data/far": "-> /out", "/data/near": "-> sub", "/data/sub": "dir", "/data/ws": "-> /ws/sub",
	"/ws": "dir", "/ws/sub": "dir", "/ws/out": "-> /out", "/ws/in": "-> sub", "/ws/f": "-> /out/f", "/ws/tool": "-> /usr/bin/tool", "/ws/data": "-> /data/sub",
	"/ws/round": "-> /out/back", "/ws/chain": "-> out", "/ws/self": "-> sub/../sub", "/ws/.git": "dir", "/ws/.git/hooks": "dir", "/ws/hooks": "-> .git/hooks", "/ws/gone": "-> /out/gone",
	"/ws/sub/up": "-> ../in", "/ws/prof": "-> /out/f",
}

func linkInputs(cwd string) Inputs {
	return Inputs{Home: "/home/u", Cwd: cwd, Paths: links, Lists: Lists{
		Secret:    func(path, home string) bool { return under(path, home+"/.ssh") },
		Protected: func(rel string) bool { return under(rel, ".git/hooks") },
	}}
}

// A path of a document must not lead through a link that an earlier command may have left; bad is
// that link. Other links are followed: those that stay in the tree, and those where no command
// writes.
func TestPlantedLinks(t *testing.T) {
	for _, c := range []struct{ doc, bad string }{
		// These are all paths that open something.
		{`{"working_dir":"/ws/out"}`, "/ws/out"},
		{`{"working_dir":"out"}`, "/specs/out"}, // relative to the spec's own directory
		{`{"access_mode":"danger-full-access","working_dir":"/ws/out"}`, "/ws/out"},
		{`{"access_mode":"workspace-write","working_dir":"/ws/chain"}`, "/ws/chain"},
		{`{"sandbox":{"root":"out"}}`, "/specs/out"},
		{`{"sandbox":{"root":"/data"},"restrict":"/near"}`, ""},
		{`{"filesystem":{"write":["out"]}}`, "/ws/out"},
		{`{"filesystem":{"read":["out"]}}`, "/ws/out"},
		{`{"access_mode":"workspace-write","filesystem":{"read":["out"]}}`, "/ws/out"},
		{`{"filesystem":{"mounts":[{"source":"out","target":"/m","mode":"ro"}]}}`, "/ws/out"},
		{`{"filesystem":{"mounts":[{"source":"out","target":"/m","mode":"rw"}]}}`, "/ws/out"},
		{`{"commands":{"allow":["./tool"]}}`, "/ws/tool"},
		{`{"syscalls":"prof"}`, "/ws/prof"},
		// These only narrow.
		{`{"filesystem":{"hide":["out"]}}`, ""},
		{`{"commands":{"deny":["./tool"]}}`, ""},
		// These are the real path itself, and a link that stays in the tree.
		{`{"working_dir":"/out"}`, ""},
		{`{"working_dir":"/ws/in"}`, ""},
		{`{"working_dir":"in"}`, ""},
		{`{"filesystem":{"read":["in","self","sub/up","round"]}}`, ""},
		// No command writes where this link is.
		{`{"working_dir":"~/proj"}`, ""},
		{`{"filesystem":{"write":["/host"],"read":["/bin"]}}`, ""},
		{`{"commands":{"allow":["/bin/tool"]}}`, ""},
		// A path that documents make writable counts as a command's, wherever it lies.
		{`{"filesystem":{"write":["/data"],"read":["/data/far"]}}`, "/data/far"},
		{`{"working_dir":"/data/far"}`, ""}, // no document makes it writable
		{`{"filesystem":{"write":["/data"],"read":["/data/near"]}}`, ""},
		{`{"filesystem":{"mounts":[{"source":"/data","target":"/m","mode":"rw"}],"read":["/data/far"]}}`, "/data/far"},
		{`{"filesystem":{"mounts":[{"source":"/data","target":"/m","mode":"ro"}],"read":["/data/far"]}}`, ""},
		{`{"readonly":true,"filesystem":{"write":["/data"],"read":["/data/far"]}}`, "/data/far"},
		// These lead from one tree to another that is named without a planted link.
		{`{"filesystem":{"write":["/data"],"read":["data"]}}`, ""},
		{`{"filesystem":{"write":["out","/out"]}}`, ""},
		{`{"filesystem":{"write":["out","chain"]}}`, "/ws/out"},
		{`{"access_mode":"workspace-write","filesystem":{"write":["/data","/data/ws"]}}`, ""},
		{`{"access_mode":"read-only","filesystem":{"write":["/data","/data/ws"]}}`, "/data/ws"},
		{`{"access_mode":"read-only","filesystem":{"write":["sub","sub/up"]}}`, ""},
		// These lead within the tree to a path that only its own name opens.
		{`{"access_mode":"workspace-write","filesystem":{"write":["hooks"]}}`, "/ws/hooks"},
		{`{"access_mode":"workspace-write","filesystem":{"write":[".git/hooks"]}}`, ""},
		{`{"access_mode":"workspace-write","working_dir":"/home/u","filesystem":{"read":["keys"]}}`, "/home/u/keys"},
		{`{"access_mode":"workspace-write","working_dir":"/home/u","filesystem":{"read":[".ssh"]}}`, ""},
	} {
		s := decodeAt(t, c.doc)
		s.Source.Dir = "/specs"
		_, err := Resolve(s, linkInputs("/ws"))
		if c.bad == "" {
			if err != nil {
				t.Errorf("%s: %v", c.doc, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s: %s is followed", c.doc, c.bad)
			continue
		}
		p := AsProblems(err)
		if !strings.HasPrefix(p[0].Why, c.bad+" is a link ") || !strings.HasSuffix(p[0].Why, ": an earlier command may have left it") ||
			!strings.HasPrefix(p[0].Help, "name /") || p[0].Field == "" || p[0].On == "" {
			t.Errorf("%s: %v", c.doc, err)
		}
	}
}

// A link that leads to a directory above it does not count as one that stays in that directory.
func TestPlantedLinksUp(t *testing.T) {
	for doc, followed := range map[string]bool{
		`{"working_dir":"/data/sub/up"}`:                                        false,
		`{"working_dir":"/data/sub/up/sub/in"}`:                                 true, // which is in the directory again
		`{"sandbox":{"root":"/data/sub/up"}}`:                                   false,
		`{"filesystem":{"write":["up"]}}`:                                       false,
		`{"filesystem":{"write":["up","up/sub"]}}`:                              false,
		`{"filesystem":{"mounts":[{"source":"up","target":"/m","mode":"rw"}]}}`: false,
		`{"filesystem":{"write":["up","/data"]}}`:                               true,
		`{"working_dir":"/data","filesystem":{"write":["/data/sub/up"]}}`:       true, // the caller starts there
		`{"filesystem":{"write":["whole","in"]}}`:                               true,
	} {
		world := tree{"/data/sub/up": "-> ..", "/data/sub/whole": "-> .", "/data/sub/in": "-> deep", "/data/sub/deep": "dir"}
		for path, what := range links {
			if world[path] == "" {
				world[path] = what
			}
		}
		in := linkInputs("/data/sub")
		in.Paths = world
		s := decodeAt(t, doc)
		s.Source.Dir = ""
		_, err := Resolve(s, in)
		if followed && err != nil || !followed && (err == nil || !strings.Contains(err.Error(), "/data/sub/up is a link")) {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

// An earlier command may have worked in the repository around the current directory: a link there
// must stay in the repository, and one in the current directory must stay in that. A repository in
// the home directory does not make its links suspect.
func TestRepositoriesAround(t *testing.T) {
	for _, c := range []struct{ cwd, read, bad string }{
		{"/ws/sub", "../out", "/ws/out"}, {"/ws/sub", "../in", ""}, {"/ws/sub", "../hooks", "/ws/hooks"}, {"/ws/sub", "up", "/ws/sub/up"},
		{"/ws", "sub/up", ""}, {"/data/sub", "../far", ""}, // no repository
		{"/home/u/work", "../way", ""}, {"/home/u", "way", "/home/u/way"},
	} {
		world := tree{"/home/u/.git": "dir", "/home/u/work": "dir", "/home/u/way": "-> /out", "/ws/sub/up": "-> ../.git"}
		for path, what := range links {
			if world[path] == "" {
				world[path] = what
			}
		}
		in := linkInputs(c.cwd)
		in.Paths = world
		s := decodeAt(t, `{"filesystem":{"read":["`+c.read+`"]}}`)
		s.Source.Dir = ""
		_, err := Resolve(s, in)
		if c.bad == "" && err != nil || c.bad != "" && (err == nil || !strings.Contains(err.Error(), c.bad+" is a link")) {
			t.Errorf("%s from %s: %v", c.read, c.cwd, err)
		}
	}
}

// If the current directory, or the spec's, is the root directory, no link counts as a command's.
func TestTheRootIsNoTree(t *testing.T) {
	s := decodeAt(t, `{"working_dir":"/ws/out","filesystem":{"read":["/bin"]}}`)
	s.Source.Dir = "/"
	if _, err := Resolve(s, linkInputs("/")); err != nil {
		t.Error(err)
	}
}

// This decides what makes a program an agent: a document's directory alone is not enough.
func TestTreesHold(t *testing.T) {
	s := decodeAt(t, `{"access_mode":"workspace-write","filesystem":{"write":["/data"]}}`)
	s.Source.Dir = "/specs"
	trees := TreesOf(linkInputs("/ws"), s)
	for path, want := range map[string]bool{
		"/ws/sub": true, "/ws/tool": true, "/data/sub": true, "/home/u/proj/sub": true, "/out/back": true,
		"/usr/bin/tool": false, "/bin/tool": false, "/specs/deep": false, "/specs/out/f": false, "/home/u/.ssh/id": false,
	} {
		if got := trees.Holds(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	s.Source.Dir = "/ws"
	if trees = TreesOf(linkInputs("/ws"), s); !trees.Holds("/ws/sub") {
		t.Error("a current directory in which a document lies counts")
	}
}

// The directory of each document counts for all of them.
func TestChainKnowsAllDirs(t *testing.T) {
	parent, child := decodeAt(t, `{}`), decodeAt(t, `{"working_dir":"/specs/out"}`)
	parent.Source.Dir, child.Source.Dir = "/specs", "/data"
	if _, err := Chain([]*SandboxSpec{parent, child}, linkInputs("/ws")); err == nil || !strings.Contains(err.Error(), "/specs/out is a link") {
		t.Error(err)
	}
	parent.Source.Dir = "/usr"
	if _, err := Chain([]*SandboxSpec{parent, child}, linkInputs("/ws")); err != nil {
		t.Error(err)
	}
}

// A writable path of a parent counts as a command's for documents that narrow it, even if these
// write elsewhere.
func TestNarrowKnowsTheParentsDirs(t *testing.T) {
	in := linkInputs("/out")
	parent := decodeAt(t, `{"access_mode":"workspace-write","working_dir":"/data"}`)
	child := decodeAt(t, `{"access_mode":"read-only","working_dir":"/data/sub","filesystem":{"read":["@system","/data/far"]}}`)
	all, err := Chain([]*SandboxSpec{parent, child}, in)
	if err == nil || !strings.Contains(err.Error(), "/data/far is a link") {
		t.Errorf("%v %v", all, err)
	}
	child = decodeAt(t, `{"access_mode":"read-only","working_dir":"/data/sub","filesystem":{"read":["@system","/data/near"]}}`)
	if _, err := Chain([]*SandboxSpec{parent, child}, in); err != nil {
		t.Error(err)
	}
}

// These are --input and --output, and other paths that flags name.
func TestPlantedLinksOfFlags(t *testing.T) {
	for _, c := range []struct {
		job JobAsk
		bad string
	}{
		{JobAsk{Input: "out"}, "/ws/out"}, {JobAsk{Output: "out"}, "/ws/out"}, {JobAsk{Input: "/data/far", Output: "/data"}, "/data/far"},
		{JobAsk{Input: "in", Output: "/host"}, ""}, {JobAsk{Input: "/out", Output: "/data"}, ""},
	} {
		in := linkInputs("/ws")
		in.Job = &c.job
		s := decodeAt(t, `{}`)
		s.Source.Dir = ""
		_, err := Resolve(s, in)
		if c.bad == "" && err != nil || c.bad != "" && (err == nil || !strings.Contains(err.Error(), c.bad+" is a link")) {
			t.Errorf("%+v: %v", c.job, err)
		}
	}
	s := decodeAt(t, `{"access_mode":"workspace-write","working_dir":"missing","filesystem":{"write":["/data"]}}`)
	s.Source.Dir = "/specs"
	trees := TreesOf(linkInputs("/ws"), s) // although the document does not resolve
	for path, bad := range map[string]string{
		"/ws/out/": "/ws/out", "/ws/gone": "/ws/gone", "/data/far/new": "/data/far", "/specs/out": "/specs/out", "/ws/.git/hooks": "", "/ws/hooks": "/ws/hooks",
		"/ws/in/new": "", "/out/new": "", "/host/new": "", "/home/u/keys": "",
	} {
		p, refusal := trees.Follow(path)
		if bad == "" && (refusal != nil || p.Real == "") || bad != "" && (refusal == nil || !strings.HasPrefix(refusal.Why, bad+" is a link")) {
			t.Errorf("%s: %+v, %v", path, p, refusal)
		}
	}
}
