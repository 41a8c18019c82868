package spec

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// host is the tree for most cases: the spec lies in /p, and the caller is in /p/w.
var host = tree{
	"/home": "dir", "/home/u": "dir", "/home/u/.cache": "dir", "/home/u/.netrc": "file",
	"/p": "dir", "/p/w": "dir", "/p/w/src": "dir", "/p/w/src/main.go": "file", "/p/w/link": "-> /srv/data", "/p/w/out": "-> /nowhere", "/srv/keys": "-> /home/u/.netrc",
	"/p/root": "dir", "/p/root/src": "dir", "/p/root/src/lib": "dir", "/p/root/file": "file", "/p/root/leak": "-> /srv", "/p/root/in": "-> src",
	"/ways": "dir", "/ways/link": "-> /srv/data", "/srv": "dir", "/srv/data": "dir", "/srv/data/f": "file", "/srv/f": "file", "/opt": "dir", "/shut": "shut", "/shut/x": "dir",
	"/tmp": "dir", "/tmp/x": "dir", "/in": "dir", "/outdir": "dir", "/p/prof.json": "file", "/p/w/prof.json": "file", "/p/w/[slug]": "file",
}

func inputs() Inputs {
	return Inputs{Home: "/home/u", Cwd: "/p/w", Environ: []string{"PATH=/bin", "HOME=/home/u"}, UID: 1000, Paths: host}
}

func decodeAt(t testing.TB, doc string) *SandboxSpec {
	t.Helper()
	s, err := Decode("spec.json", []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	s.Source.Dir = "/p"
	return s
}

// summary describes in few words what Resolve decided about files and network.
func summary(r Resolved) string {
	var s []string
	add := func(name string, on bool) {
		if on {
			s = append(s, name)
		}
	}
	add("readonly", r.ReadOnly)
	add("confined", r.Confined)
	add("visible", r.Visible)
	add("system", r.System)
	add("private", r.Private)
	add("files", r.FileRules)
	add("doors", r.SideDoors)
	add("net="+r.Network.String(), true)
	add("cwd="+r.WorkingDir.Real, true)
	list := func(name string, all []Path) {
		var real []string
		for _, p := range all {
			mark := ""
			if !p.Exists {
				mark = "?"
			}
			real = append(real, p.Real+mark)
		}
		add(name+"="+strings.Join(real, ","), len(real) > 0)
	}
	list("r", r.Read)
	list("w", r.Write)
	list("h", r.Hide)
	add("g="+strings.Join(r.Globs, ","), len(r.Globs) > 0)
	for _, m := range r.Mounts {
		add("m="+m.Source.Real+":"+m.Target+":"+m.Mode.String(), true)
	}
	return strings.Join(s, " ")
}

func TestResolveFiles(t *testing.T) {
	for _, test := range []struct{ doc, want string }{
		// These are the access modes.
		{`{}`, "net=host cwd=/p/w"},
		{`{"access_mode":"danger-full-access"}`, "net=host cwd=/p/w"},
		{`{"access_mode":"read-only"}`, "readonly confined private files doors net=none cwd=/p/w"},
		{`{"access_mode":"workspace-write"}`, "confined private files doors net=none cwd=/p/w w=/p/w"},
		{`{"access_mode":"workspace-write","working_dir":"root"}`, "confined private files doors net=none cwd=/p/root w=/p/root"},
		{`{"access_mode":"workspace-write","network":{"mode":"host"}}`, "confined private files doors net=host cwd=/p/w w=/p/w"},
		// filesystem.write adds to the working directory; read-only closes that.
		{`{"access_mode":"workspace-write","filesystem":{"write":["/srv","~/.cache"]}}`, "confined private files doors net=none cwd=/p/w w=/p/w,/srv,/home/u/.cache"},
		{`{"access_mode":"read-only","filesystem":{"write":["/srv"]}}`, "readonly confined private files doors net=none cwd=/p/w w=/srv"},
		{`{"access_mode":"workspace-write","readonly":false}`, "confined private files doors net=none cwd=/p/w w=/p/w"},
		{`{"access_mode":"workspace-write","readonly":true}`, "readonly confined private files doors net=none cwd=/p/w"},
		{`{"access_mode":"workspace-write","readonly":true,"filesystem":{"write":["/srv",".git"],"mounts":[{"source":"/opt","target":"/o","mode":"rw"}]}}`,
			"readonly confined private files doors net=none cwd=/p/w m=/opt:/o:ro"},
		{`{"readonly":true}`, "readonly confined files doors net=host cwd=/p/w"},
		// Without an access_mode, each rule works by itself.
		{`{"filesystem":{}}`, "net=host cwd=/p/w"},
		{`{"filesystem":{"write":[]}}`, "readonly confined files doors net=host cwd=/p/w"},
		{`{"filesystem":{"write":["src"]}}`, "readonly confined files doors net=host cwd=/p/w w=/p/w/src"},
		{`{"filesystem":{"read":[]}}`, "readonly confined visible private files doors net=host cwd=/p/w"},
		{`{"filesystem":{"read":["@system","src"]}}`, "readonly confined visible system private files doors net=host cwd=/p/w r=/p/w/src"},
		{`{"filesystem":{"read":["@system"],"write":["."]}}`, "readonly confined visible system private files doors net=host cwd=/p/w w=/p/w"},
		{`{"filesystem":{"read":["src"]},"readonly":true}`, "readonly confined visible private files doors net=host cwd=/p/w r=/p/w/src"},
		{`{"filesystem":{"read":[],"write":["src"]},"readonly":true}`, "readonly confined visible private files doors net=host cwd=/p/w r=/p/w/src"},
		{`{"filesystem":{"hide":["~/.netrc","/no/such","/srv/f/x"]}}`, "files doors net=host cwd=/p/w h=/home/u/.netrc,/no/such?,/srv/f/x?"},
		{`{"filesystem":{"hide":[]}}`, "net=host cwd=/p/w"},
		{`{"filesystem":{"hide":["link/x","[slug]"]}}`, "files doors net=host cwd=/p/w h=/srv/data/x?,/p/w/[slug]"},
		{`{"filesystem":{"mounts":[{"source":"/ways/link","target":"/data/","mode":"rw"},{"target":"~/t","mode":"tmpfs"}]}}`,
			"files doors net=host cwd=/p/w m=/srv/data:/data:rw m=:/home/u/t:tmpfs"},
		{`{"access_mode":"danger-full-access","filesystem":{"read":["@system"]}}`, "readonly confined visible system private files doors net=host cwd=/p/w"},
		// These are about the network.
		{`{"network":{"mode":"host"}}`, "net=host cwd=/p/w"},
		{`{"network":{"mode":"none"}}`, "doors net=none cwd=/p/w"},
		{`{"network":{"mode":"allow"}}`, "doors net=allow cwd=/p/w"},
		{`{"network":{"allow":["a.b:1"]}}`, "doors net=allow cwd=/p/w"},
		{`{"network":{"mode":"none","listen":[80]}}`, "doors net=none cwd=/p/w"},
		{`{"network":{}, "access_mode":"read-only"}`, "readonly confined private files doors net=none cwd=/p/w"},
		{`{"access_mode":"danger-full-access","network":{"mode":"none"}}`, "doors net=none cwd=/p/w"},
		// These paths do not exist yet.
		{`{"access_mode":"workspace-write","filesystem":{"write":[".git","new/deep/er","**/.git"]}}`,
			"confined private files doors net=none cwd=/p/w w=/p/w,/p/w/.git?,/p/w/new/deep/er? g=**/.git"},
		{`{"filesystem":{"write":["/srv/new","/srv"]}}`, "readonly confined files doors net=host cwd=/p/w w=/srv,/srv/new?"},
		{`{"filesystem":{"write":["link/new","/srv"]}}`, "readonly confined files doors net=host cwd=/p/w w=/srv,/srv/data/new?"},
		// These show to what relative paths refer.
		{`{"working_dir":"w/src","filesystem":{"read":["main.go","/ways/link"]}}`, "readonly confined visible private files doors net=host cwd=/p/w/src r=/p/w/src/main.go,/srv/data,/p/w/src"},
		{`{"working_dir":"~"}`, "net=host cwd=/home/u"},
		{`{"access_mode":"workspace-write","working_dir":"root/src/lib"}`, "confined private files doors net=none cwd=/p/root/src/lib w=/p/root/src/lib"},
		{`{"access_mode":"workspace-write","working_dir":"root/in"}`, "confined private files doors net=none cwd=/p/root/src w=/p/root/src"},
		{`{"working_dir":"root"}`, "net=host cwd=/p/root"},
		{`{"working_dir":"~/.cache/"}`, "net=host cwd=/home/u/.cache"},
		{`{"working_dir":"../ways/link/.."}`, "net=host cwd=/srv"},
		{`{"working_dir":"/ways/link","access_mode":"workspace-write"}`, "confined private files doors net=none cwd=/srv/data w=/srv/data"},
		// These are workshops.
		{`{"sandbox":{"root":"root"}}`, "confined visible system private files doors net=host cwd=/p/root r=/p/root w=/p/root"},
		{`{"sandbox":{"root":"./root/","readonly":true}}`, "readonly confined visible system private files doors net=host cwd=/p/root r=/p/root"},
		{`{"sandbox":{"root":"root"},"readonly":true}`, "readonly confined visible system private files doors net=host cwd=/p/root r=/p/root"},
		{`{"sandbox":{"root":"root"},"access_mode":"read-only"}`, "readonly confined visible system private files doors net=none cwd=/p/root r=/p/root"},
		{`{"sandbox":{"root":"root"},"access_mode":"workspace-write"}`, "confined visible system private files doors net=none cwd=/p/root r=/p/root w=/p/root"},
		{`{"sandbox":{"root":"root"},"working_dir":"root/src","access_mode":"workspace-write"}`, "confined visible system private files doors net=none cwd=/p/root/src r=/p/root w=/p/root/src"},
		{`{"sandbox":{"root":"root"},"restrict":"/src"}`, "confined visible system private files doors net=host cwd=/p/root/src r=/p/root/src w=/p/root/src"},
		{`{"sandbox":{"root":"root"},"restrict":"/src/../src/lib/"}`, "confined visible system private files doors net=host cwd=/p/root/src/lib r=/p/root/src/lib w=/p/root/src/lib"},
		{`{"sandbox":{"root":"root"},"restrict":"/in/lib"}`, "confined visible system private files doors net=host cwd=/p/root/src/lib r=/p/root/src/lib w=/p/root/src/lib"},
		{`{"sandbox":{"root":"root"},"restrict":"/"}`, "confined visible system private files doors net=host cwd=/p/root r=/p/root w=/p/root"},
		{`{"sandbox":{"root":"root"},"restrict":"/src","filesystem":{"read":["/srv"],"write":["lib"]}}`,
			"confined visible system private files doors net=host cwd=/p/root/src r=/p/root/src,/srv w=/p/root/src,/p/root/src/lib"},
		{`{"restrict":"/src","best_effort":["restrict"]}`, "net=host cwd=/p/w"},
	} {
		r, err := Resolve(decodeAt(t, test.doc), inputs())
		if err != nil {
			t.Errorf("%s: %v", test.doc, err)
			continue
		}
		if got := summary(r); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.doc, got, test.want)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	for _, test := range []struct{ doc, want string }{
		{`{"working_dir":"none"}`, "working_dir (spec.json:1:16): cannot start in none: /p/none does not exist"},
		{`{"working_dir":"prof.json"}`, "working_dir (spec.json:1:16): cannot start in prof.json: /p/prof.json is not a directory"},
		{`{"working_dir":"w/out"}`, "working_dir (spec.json:1:16): cannot start in w/out: /p/w/out does not exist (/p/w/out is a link to /nowhere)"},
		{`{"filesystem":{"read":["a b"]}}`, `filesystem.read[0] (spec.json:1:24): cannot have "a b" in view: "/p/w/a b" does not exist`},
		{`{"filesystem":{"read":["/shut/x"]}}`, "filesystem.read[0] (spec.json:1:24): cannot have /shut/x in view: permission denied"},
		{`{"filesystem":{"read":["/srv/f/x"]}}`, "filesystem.read[0] (spec.json:1:24): cannot have /srv/f/x in view: a part of the path is not a directory"},
		{`{"filesystem":{"write":["/none"]}}`, "filesystem.write[0] (spec.json:1:25): cannot write /none: /none does not exist, and no writable directory holds it"},
		{`{"filesystem":{"write":[".git"]}}`, "filesystem.write[0] (spec.json:1:25): cannot write .git: /p/w/.git does not exist, and no writable directory holds it"},
		{`{"access_mode":"read-only","filesystem":{"write":[".git"]}}`, "filesystem.write[0] (spec.json:1:51): cannot write .git: /p/w/.git does not exist, and no writable directory holds it"},
		{`{"access_mode":"workspace-write","filesystem":{"write":["out"]}}`,
			"filesystem.write[0] (spec.json:1:57): cannot write out: /p/w/out does not exist (/p/w/out is a link to /nowhere), and no writable directory holds it"},
		{`{"filesystem":{"hide":["/shut/x"]}}`, "filesystem.hide[0] (spec.json:1:24): cannot hide /shut/x: permission denied"},
		{`{"filesystem":{"hide":["key[0-9]"]}}`, "filesystem.hide[0] (spec.json:1:24): cannot hide key[0-9]: nothing has that name, and globs and variables are not expanded"},
		{`{"filesystem":{"hide":["/home/$USER"]}}`, "filesystem.hide[0] (spec.json:1:24): cannot hide /home/$USER: nothing has that name, and globs and variables are not expanded"},
		{`{"filesystem":{"mounts":[{"source":"/none","target":"/x","mode":"ro"}]}}`, "filesystem.mounts[0].source (spec.json:1:36): cannot mount at /x: /none does not exist"},
		{`{"filesystem":{"mounts":[{"source":"/srv","target":"/x/..","mode":"ro"}]}}`, "filesystem.mounts[0].target (spec.json:1:52): cannot mount at /x/..: nothing can be mounted over /"},
		{`{"filesystem":{"mounts":[{"target":"~/x","mode":"tmpfs"},{"target":"/home/u/x","mode":"tmpfs"}]}}`,
			"filesystem.mounts[1].target (spec.json:1:68): cannot mount at /home/u/x: two mounts on /home/u/x"},
		{`{"filesystem":{"read":["/x1","/x2"]}}`,
			"filesystem.read[0] (spec.json:1:24): cannot have /x1 in view: /x1 does not exist\nfilesystem.read[1] (spec.json:1:30): cannot have /x2 in view: /x2 does not exist"},
		{`{"syscalls":"none.json"}`, "syscalls (spec.json:1:13): cannot use the profile none.json: /p/w/none.json does not exist"},
		{`{"network":{"listen":[80]}}`, "network.listen (spec.json:1:22): cannot publish ports: the command has the host's network, and listens at the host's own ports itself"},
		{`{"network":{"mode":"host","listen":[80]}}`, "network.listen (spec.json:1:36): cannot publish ports: the command has the host's network, and listens at the host's own ports itself"},
		// These are workshops.
		{`{"restrict":"/src"}`, "restrict (spec.json:1:13): cannot restrict the files to /src: it declares restrictions and has no parent sandbox"},
		{`{"sandbox":{"root":"none"}}`, "sandbox.root (spec.json:1:20): cannot use the root none: /p/none does not exist"},
		{`{"sandbox":{"root":"root/file"}}`, "sandbox.root (spec.json:1:20): cannot use the root root/file: /p/root/file is not a directory"},
		{`{"sandbox":{"root":"root"},"restrict":"/none"}`, "restrict (spec.json:1:39): cannot restrict the files to /none: /p/root/none does not exist"},
		{`{"sandbox":{"root":"root"},"restrict":"/file"}`, "restrict (spec.json:1:39): cannot restrict the files to /file: /p/root/file is not a directory"},
		{`{"sandbox":{"root":"root"},"restrict":"/.."}`, "restrict (spec.json:1:39): cannot restrict the files to /..: it leaves the root /p/root (spec.json:1:20)"},
		{`{"sandbox":{"root":"root"},"restrict":"/src/../../root/src"}`, "restrict (spec.json:1:39): cannot restrict the files to /src/../../root/src: it leaves the root /p/root (spec.json:1:20)"},
		{`{"access_mode":"read-only","filesystem":{"write":["link"]}}`, "filesystem.write[0] (spec.json:1:51): cannot write link: /p/w/link is a link that leads out of the workspace, to /srv/data: an earlier command may have left it"},
		{`{"access_mode":"read-only","filesystem":{"mounts":[{"source":"link","target":"/data","mode":"ro"}]}}`, "filesystem.mounts[0].source (spec.json:1:62): cannot mount at /data: /p/w/link is a link that leads out of the workspace, to /srv/data: an earlier command may have left it"},
		{`{"sandbox":{"root":"root"},"restrict":"/leak/data"}`, "restrict (spec.json:1:39): cannot restrict the files to /leak/data: it leaves the root /p/root (spec.json:1:20): it is /srv/data"},
		{`{"sandbox":{"root":"root","readonly":true},"readonly":false}`, "readonly (spec.json:1:55): cannot make the workshop writable by readonly: false: sandbox.readonly is true"},
		{`{"sandbox":{"root":"root"},"working_dir":"w"}`, "working_dir (spec.json:1:42): cannot start in w: it lies outside of /p/root (spec.json:1:20)"},
		{`{"sandbox":{"root":"root"},"restrict":"/src","filesystem":{"read":["../file"]}}`, "filesystem.read[0] (spec.json:1:68): cannot open ../file: restrict leaves only /p/root/src of the root"},
		{`{"sandbox":{"root":"root"},"restrict":"/src","filesystem":{"write":["/p"]}}`, "filesystem.write[0] (spec.json:1:69): cannot open /p: restrict leaves only /p/root/src of the root"},
		{`{"sandbox":{"root":"root"},"restrict":"/src","filesystem":{"mounts":[{"source":"..","target":"/x","mode":"ro"}]}}`,
			"filesystem.mounts[0].source (spec.json:1:80): cannot open ..: restrict leaves only /p/root/src of the root"},
	} {
		r, err := Resolve(decodeAt(t, test.doc), inputs())
		if err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.doc, err, test.want)
		}
		var p *Problem
		if err != nil && !errors.As(err, &p) || !reflect.DeepEqual(r, Resolved{}) {
			t.Errorf("%s: no problem in %T, or a result beside it", test.doc, err)
		}
	}
}

// Paths of a spec on the command line are relative to the current directory. An error names a
// current directory or home that is missing.
func TestResolveInputs(t *testing.T) {
	s := decodeAt(t, `{"working_dir":"src"}`)
	s.Source.Dir = ""
	if r, err := Resolve(s, inputs()); err != nil || r.WorkingDir.Real != "/p/w/src" {
		t.Errorf("%v, %v", r.WorkingDir, err)
	}
	in := inputs()
	in.Cwd = "/gone"
	if _, err := Resolve(decodeAt(t, `{}`), in); err == nil || err.Error() != "working_dir: cannot start in the current directory: /gone does not exist" {
		t.Error(err)
	}
	in = inputs()
	in.Cwd = "/"
	if r, err := Resolve(decodeAt(t, `{"access_mode":"workspace-write"}`), in); err != nil || len(r.Write) != 0 || len(r.Notes) == 0 {
		t.Errorf("the root is a workspace: %+v, %v", r.Write, err)
	}
	in = inputs()
	in.Home = ""
	_, err := Resolve(decodeAt(t, `{"filesystem":{"read":["~/.cache"]}}`), in)
	if err == nil || !strings.Contains(err.Error(), "no home directory is known") {
		t.Error(err)
	}
}

// A path has the text as written, its origin, and the links on the way.
func TestResolvedPath(t *testing.T) {
	r, err := Resolve(decodeAt(t, `{"filesystem":{"read":["@system","/ways/./link/"]}}`), inputs())
	if err != nil {
		t.Fatal(err)
	}
	want := Path{Asked: "/ways/./link/", Abs: "/ways/link", Real: "/srv/data", Links: []Link{{"/ways/link", "/srv/data"}}, Exists: true, IsDir: true,
		Field: "filesystem.read[1]", At: "spec.json:1:34"}
	if !reflect.DeepEqual(r.Read[0], want) {
		t.Errorf("got %+v\nwant %+v", r.Read[0], want)
	}
	if cwd := r.WorkingDir; cwd.Field != "" || cwd.At != "" || cwd.Abs != "/p/w" {
		t.Errorf("working directory %+v", cwd)
	}
}

func TestResolveJob(t *testing.T) {
	resolve := func(doc, input, output string) (Resolved, error) {
		in := inputs()
		in.Job = &JobAsk{Input: input, Output: output}
		return Resolve(decodeAt(t, doc), in)
	}
	r, err := resolve(`{}`, "/in", "../../outdir")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := summary(r), "confined visible system private files doors net=none cwd=/work"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if r.AccessMode != WorkspaceWrite || r.WorkingDir.Exists || r.Job.Input.Real != "/in" || r.Job.Output.Real != "/outdir" {
		t.Errorf("%+v", r)
	}
	r, err = resolve(`{"filesystem":{"read":["/srv"],"write":[".git","/output/x"]},"network":{"mode":"host"},"working_dir":"/work"}`, "", "/outdir")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := summary(r), "confined visible system private files doors net=host cwd=/work r=/srv w=/work/.git?,/output/x?"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if r.Job.Input.Abs != "" {
		t.Errorf("an input that nobody gave: %+v", r.Job.Input)
	}
	for _, test := range []struct{ doc, input, output, want string }{
		{`{}`, "/none", "", "cannot take --input /none: /none does not exist"},
		{`{}`, "", "/srv/f", "cannot write to --output /srv/f: /srv/f is not a directory"},
		{`{"working_dir":"w"}`, "/in", "", "working_dir (spec.json:1:16): cannot start in w: with --input and --output the command starts in /work"},
		{`{"access_mode":"danger-full-access"}`, "/in", "", "access_mode (spec.json:1:16): cannot use --input and --output: the job layout is workspace-write"},
		{`{"access_mode":"read-only"}`, "/in", "/outdir", "access_mode (spec.json:1:16): cannot write to --output: the spec is read-only"},
		{`{"sandbox":{"root":"root"}}`, "/in", "", "sandbox (spec.json:1:12): cannot use --input and --output: a workshop has a layout of its own"},
		{`{"filesystem":{"write":["/input/x"]}}`, "/in", "", "filesystem.write[0] (spec.json:1:25): cannot write /input/x: /input/x does not exist, and no writable directory holds it"},
	} {
		if _, err := resolve(test.doc, test.input, test.output); err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.doc, err, test.want)
		}
	}
}

func TestNotYetAndBestEffort(t *testing.T) {
	for _, test := range []struct {
		doc     string
		notYet  []Field
		lenient []Field
	}{
		{`{}`, nil, nil},
		{`{"access_mode":"read-only","filesystem":{"write":[]},"environment":{"pass":[]},"syscalls":"prof.json","agent":"none","on_exceed":"kill"}`, nil, nil},
		{`{"max_turns":1,"max_commands":0,"tools_allowed":[],"tools_denied":["A"]}`, nil, nil},
		{`{"max_commands":0,"on_exceed":"kill"}`, nil, nil},
		{`{"max_turns":0,"on_exceed":"kill"}`, nil, nil},
		{`{"tools_denied":[],"commands":{"deny":[]},"network":{"listen":[]}}`, nil, nil},
		{`{"commands":{"allow":[],"deny":["a"]},"profile":"write","agent":"codex"}`, nil, nil},
		{`{"network":{"mode":"allow"}}`, nil, nil},
		{`{"network":{"mode":"none","listen":[1]}}`, nil, nil},
		{`{"network":{"allow":[]}}`, nil, nil},
		{`{"limits":{"memory":1,"timeout":1},"max_turns":1}`, nil, nil},
		{`{"best_effort":["limits","restrict","limits"]}`, nil, []Field{"limits", "restrict"}},
		{`{"best_effort":["limits"],"require_available":false}`, nil, []Field{"limits", "*"}},
		{`{"best_effort":["*"],"require_available":false}`, nil, []Field{"*"}},
		{`{"require_available":true}`, nil, nil},
	} {
		r, err := Resolve(decodeAt(t, test.doc), inputs())
		if err != nil || !slices.Equal(r.NotYet, test.notYet) || !slices.Equal(r.BestEffort, test.lenient) {
			t.Errorf("%s: %q, %q, %v; want %q, %q", test.doc, r.NotYet, r.BestEffort, err, test.notYet, test.lenient)
		}
	}
	r := Resolved{BestEffort: []Field{"limits", "network.mode"}}
	for f, want := range map[Field]bool{"limits": true, "limits.memory": true, "limit": false, "limitsx": false, "network": false, "network.mode": true, "*": false} {
		if r.AllowsLess(f) != want {
			t.Errorf("%s: %v", f, !want)
		}
	}
	if !(&Resolved{BestEffort: []Field{"*"}}).AllowsLess("access_mode") {
		t.Error("* does not cover access_mode")
	}
}

func TestSyscalls(t *testing.T) {
	for doc, want := range map[string]string{
		`{}`: "default", `{"syscalls":"default"}`: "default", `{"syscalls":"prof.json"}`: "/p/w/prof.json", `{"syscalls":"/p/prof.json"}`: "/p/prof.json",
	} {
		if r, err := Resolve(decodeAt(t, doc), inputs()); err != nil || r.Syscalls != want {
			t.Errorf("%s: %s, %v, want %s", doc, r.Syscalls, err, want)
		}
	}
}

func TestNotes(t *testing.T) {
	r, err := Resolve(decodeAt(t, `{"working_dir":"w","readonly":true,"filesystem":{"write":["/srv"]}}`), inputs())
	want := []Note{{"working_dir", "without an access_mode it only says where the command starts"}, {"filesystem.write[0]", "it may only be read: readonly is true"}}
	if err != nil || !slices.Equal(r.Notes, want) {
		t.Errorf("%v, %v, want %v", r.Notes, err, want)
	}
}

func TestHomeDir(t *testing.T) {
	m := tree{"/h": "dir", "/l": "-> /h", "/f": "file"}
	for _, test := range []struct {
		environ []string
		passwd  string
		want    string
	}{
		{[]string{"HOME=/h"}, "/x", "/h"},
		{[]string{"HOME=/h/"}, "/x", "/h"},
		{[]string{"HOME=/l"}, "/x", "/l"},
		{[]string{"A=b", "HOME=/f", "HOME=/h"}, "/x", "/x"},
		{[]string{"HOME=/none"}, "/x", "/x"},
		{[]string{"HOME=h"}, "/x", "/x"},
		{[]string{"HOME="}, "/x", "/x"},
		{nil, "/x", "/x"},
		{nil, "", ""},
		{nil, "x", ""},
	} {
		if got := HomeDir(test.environ, func() string { return test.passwd }, m); got != test.want {
			t.Errorf("%q, %q: %q, want %q", test.environ, test.passwd, got, test.want)
		}
	}
}

// FuzzResolve checks that no document makes Resolve panic, and that its result is consistent.
func FuzzResolve(f *testing.F) {
	for _, name := range append(files(f, "good/*.json"), files(f, "good/*.yaml")...) {
		f.Add(read(f, name), "/", false)
	}
	f.Add([]byte(`{"sandbox":{"root":"root"},"restrict":"/in/lib","filesystem":{"write":["new"],"hide":["x"]}}`), "/p/w", false)
	f.Add([]byte(`{"filesystem":{"read":["../a/../link/.."]}}`), "/p/w", true)
	f.Fuzz(func(t *testing.T, b []byte, cwd string, job bool) {
		s, err := Decode("in", b)
		if err != nil {
			return
		}
		s.Source.Dir = "/p"
		in := inputs()
		if strings.HasPrefix(cwd, "/") && !strings.Contains(cwd, "\x00") {
			in.Cwd = cwd
		}
		if job {
			in.Job = &JobAsk{Input: "/in", Output: "/outdir"}
		}
		r, err := Resolve(s, in)
		if err != nil {
			var p *Problem
			if !errors.As(err, &p) || p.Do == "" || p.Why == "" {
				t.Fatalf("%q: %v", b, err)
			}
			return
		}
		coherent(t, b, r)
	})
}

func coherent(t *testing.T, b []byte, r Resolved) {
	for _, p := range slices.Concat(r.Read, r.Write, r.Hide, []Path{r.WorkingDir}) {
		if clean(p.Abs) != p.Abs || clean(p.Real) != p.Real || p.Abs[0] != '/' || p.Real[0] != '/' {
			t.Fatalf("%q: %+v is not clean", b, p)
		}
	}
	switch {
	case r.Network == NetworkUnset,
		r.ReadOnly && !r.Confined,
		r.Confined && !r.FileRules,
		r.FileRules && !r.SideDoors,
		r.Visible && !r.Private,
		r.System && !r.Visible && !r.Spec.Filesystem.Value.Read.Set,
		!r.Confined && len(r.Write) > 0,
		(r.AccessMode == ReadOnly || r.AccessMode == WorkspaceWrite) && !(r.Private && r.SideDoors && r.Confined),
		r.Spec.Readonly.Or(false) && len(r.Write) > 0,
		len(r.Env) != len(r.Passed):
		t.Fatalf("%q: %s does not hold together", b, summary(r))
	}
	for _, m := range r.Mounts {
		if r.Spec.Readonly.Or(false) && m.Mode == MountRW {
			t.Fatalf("%q: %s is writable under readonly", b, m.Target)
		}
	}
}
