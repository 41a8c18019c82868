package workshop

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"sbx/spec"
)

const workshop = "../../testdata/workshop/"

func TestDecodeWorkshop(t *testing.T) {
	none := `{"filesystem":{"read":["@system"]}}`
	for _, c := range []struct{ what, text, want string }{
		{"a sandbox", "sandbox:\n  root: .\n", `{"sandbox":{"root":"."}}`},
		{"read-only", "sandbox: {root: files, readonly: true}\n", `{"sandbox":{"root":"files","readonly":true}}`},
		{"others' keys", "name: a\nmodel: &m 007\nworkers: [*m]\nsandbox:\n  root: \".\"\ntools: 7\n", `{"sandbox":{"root":"."}}`},
		{"a key that spec has too", "limits: many\nsandbox: {root: .}\n", `{"sandbox":{"root":"."}}`},
		{"a marker", "---\nsandbox: {root: .}\n", `{"sandbox":{"root":"."}}`},
		{"nothing", "", none},
		{"comments", "# sandbox: {root: .}\n", none},
		{"no sandbox", "name: a\n", none},
		{"no sandbox, and no YAML", "name: a: b\n", none},
	} {
		s, warns, err := DecodeWorkshop("workshop.yaml", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if got := string(s.Node().AppendJSON(nil, nil)); got != c.want || len(warns) > 0 || s.Source.Kind != spec.WorkshopFile {
			t.Errorf("%s: got %s, %v", c.what, got, warns)
		}
		again, err := spec.Decode("again.json", s.Source.Root.AppendJSON(nil, nil))
		if err != nil || !reflect.DeepEqual(withoutSource(again), withoutSource(s)) {
			t.Errorf("%s: its document says something else: %v", c.what, err)
		}
	}
	_, warns, err := DecodeWorkshop("workshop.yaml", []byte("Sandbox: {root: .}\n"))
	if err != nil || len(warns) != 1 || warns[0].String() != `workshop.yaml:1:1: the key "Sandbox" is not read: sbx reads "sandbox"` {
		t.Error(warns, err)
	}
}

func TestDecodeWorkshopRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"sandbox:\n  root: .\n  readnly: true\n", "w.yaml:3:3: sandbox.readnly: unknown field (did you mean readonly?)"},
		{"sandbox: {root: ., restrict: /src}\n", "w.yaml:1:20: sandbox.restrict: restrict has no place in this file"},
		{"sandbox: {root: ., memory: 1}\n", "w.yaml:1:20: sandbox.memory: unknown field"},
		{"sandbox: {readonly: true}\n", "w.yaml:1:10: sandbox: a sandbox needs a root"},
		{"sandbox: {root: ''}\n", "w.yaml:1:17: sandbox.root: want a path, got an empty string"},
		{"sandbox: {root: ., readonly: 1}\n", "w.yaml:1:30: sandbox.readonly: want true or false, got a number"},
		{"sandbox: .\n", "w.yaml:1:10: sandbox: want an object, got a string"},
		{"sandbox:\n", "w.yaml:1:9: sandbox: want an object, got null"},
		{"sandbox: {root: .}\nsandbox: {root: .}\n", `w.yaml:2:1: the key "sandbox" is there twice`},
		{"- sandbox\n", "w.yaml:1:1: want keys and values, got a list"},
		{"a: &x 1\n---\nsandbox: {root: .}\n", "w.yaml:1:4: anchors are not supported"},
		{"a: b\n  sandbox: {root: .}\n", "w.yaml:2:3: a key inside a value of several lines"},
		{"\xEF\xBB\xBFsandbox: {root: .}\n", "w.yaml:1:1: begins with a byte order mark"},
	} {
		_, _, err := DecodeWorkshop("w.yaml", []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestDecodeWorker(t *testing.T) {
	for _, c := range []struct{ what, text, want string }{
		{"nothing", "", `{}`},
		{"no sandbox", "---\nname: editor\n---\nEdit.\n", `{}`},
		{"an empty sandbox", "---\nsandbox: {}\n---\n", `{}`},
		{"a subtree", "---\nname: analyzer\nsandbox:\n  restrict: /src\n  readonly: true\n---\n", `{"restrict":"/src","readonly":true}`},
		{"writable, as it says", "---\nsandbox: {readonly: false}\n---\n", `{"readonly":false}`},
		{"tools", "---\ntools: Read, Grep\nsandbox: {restrict: /}\n---\n", `{"tools_allowed":["Read","Grep"],"restrict":"/"}`},
		{"others' keys", "---\ninstructions: |\n  sandbox\ntoolsets:\n  filesystem: {}\nmodel: a:b: c\nsandbox: {restrict: /a}\n---\n", `{"restrict":"/a"}`},
	} {
		w, err := DecodeWorker("a.worker", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		s := w.Spec()
		again, err := spec.Decode("again.json", s.Source.Root.AppendJSON(nil, nil))
		if err != nil || !reflect.DeepEqual(withoutSource(again), withoutSource(s)) {
			t.Errorf("%s: its document says something else: %v", c.what, err)
		}
		if got := string(s.Node().AppendJSON(nil, nil)); got != c.want || w.Old != nil || len(w.Warnings) > 0 || s.Source.Kind != spec.WorkerFile {
			t.Errorf("%s: got %s, %+v", c.what, got, w)
		}
	}
	w, err := DecodeWorker("a.worker", read(t, workshop+"workers/analyzer.worker"))
	if err != nil || w.Name != "analyzer" || !reflect.DeepEqual(w.Declares(), []spec.Field{"restrict", "readonly"}) {
		t.Error(w, err)
	}
	if at := w.Spec().At("restrict"); at != "a.worker:5:13" {
		t.Error(at)
	}
	if w, err = DecodeWorker("a.worker", read(t, workshop+"workers/editor.worker")); err != nil || w.Name != "editor" || w.Declares() != nil {
		t.Error(w, err)
	}
}

func TestDecodeWorkerRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"---\nsandbox: {restrict: src}\n---\n", `a.worker:2:21: sandbox.restrict: want a path that starts with /, counted from the sandbox's root, got "src" (did you mean /src?)`},
		{"---\nsandbox: {restict: /src}\n---\n", "a.worker:2:11: sandbox.restict: unknown field (did you mean restrict?)"},
		{"---\nsandbox: {root: .}\n---\n", "a.worker:2:11: sandbox.root: root has no place in this file"},
		{"---\nsandbox: {approval: {write: ask}}\n---\n", "a.worker:2:11: sandbox.approval: approval has no place in this file"},
		{"---\nsandbox: {memory: 1}\n---\n", "a.worker:2:11: sandbox.memory: unknown field"},
		{"---\nsandbox: {readonly: yes}\n---\n", "a.worker:2:21: sandbox.readonly: want true or false, got a string"},
		{"---\nsandbox:\n---\n", "a.worker:2:9: sandbox: want an object, got null"},
		{"---\nsandbox: {paths: [a]}\n---\n", "a.worker:2:18: sandbox.paths: want an object of paths, got a list"},
		{"---\nsandbox: {paths: {in: ./in}}\n---\n", "a.worker:2:23: sandbox.paths.in: want an object with a root and a mode, got a string"},
		{"---\nsandbox: {paths: {in: {mode: ro}}}\n---\n", "a.worker:2:23: sandbox.paths.in: a path needs a root"},
		{"---\nsandbox: {paths: {in: {root: a, mode: r}}}\n---\n", `a.worker:2:39: sandbox.paths.in.mode: want one of ro, rw, got "r"`},
		{"---\nsandbox: {paths: {in: {root: a, mode: tmpfs}}}\n---\n", `a.worker:2:39: sandbox.paths.in.mode: want one of ro, rw, got "tmpfs"`},
		{"---\nsandbox: {paths: {in: {root: $HOME/a}}}\n---\n", "a.worker:2:30: sandbox.paths.in.root: variables are not expanded in paths"},
	} {
		_, err := DecodeWorker("a.worker", []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestOldWorker(t *testing.T) {
	w, err := DecodeWorker("o.worker", read(t, workshop+"workers/old-style.worker"))
	if err != nil {
		t.Fatal(err)
	}
	if w.Old == nil || w.Declares() != nil || w.Old.Asked() != "input ./input (ro), output ./output (rw)" {
		t.Fatalf("%+v", w.Old)
	}
	var said []string
	for _, warn := range append(w.Warnings, w.Old.Lost...) {
		said = append(said, warn.String())
	}
	if want := []string{
		"o.worker:5:3: it names paths of its own, as workers' files did once: sbx check --migrate FILE prints the new form",
		`o.worker:9:7: paths.input.suffixes [".txt",".md"] is not enforced: the kernel knows no rule by a file's suffix`,
		"o.worker:13:7: paths.output.max_file_bytes 10000000 is not enforced: limits.file_size bounds what is written, wherever it is",
		"o.worker:14:7: paths.output.write_approval true is not enforced: sbx asks nobody",
	}; !reflect.DeepEqual(said, want) {
		t.Errorf("got %q", said)
	}
	for _, c := range []struct{ sandbox, want string }{
		{"{paths: {}}", `{"filesystem":{"read":["@system"],"write":[]}}`},
		{"{paths: {all: {root: ., mode: rw}}}", `{"sandbox":{"root":".","readonly":false}}`},
		{"{paths: {all: {root: in}}}", `{"sandbox":{"root":"in","readonly":true}}`},
		{"{network: false, paths: {a: {root: in}, b: {root: ./out/, mode: rw}, c: {root: /p/x}, d: {root: ~/x}}}",
			`{"filesystem":{"read":["@system","/p/in","/p/x","~/x"],"write":["/p/out"]}}`},
	} {
		w, err := DecodeWorker("o.worker", []byte("---\nsandbox: "+c.sandbox+"\n---\n"))
		if err != nil {
			t.Error(err)
			continue
		}
		w.Source.Dir = "/p/"
		s := w.OldSpec()
		again, err := spec.Decode("again.json", s.Source.Root.AppendJSON(nil, nil))
		if err != nil || !reflect.DeepEqual(withoutSource(again), withoutSource(s)) {
			t.Errorf("%s: its document says something else: %v", c.sandbox, err)
		}
		if got := string(s.Node().AppendJSON(nil, nil)); got != c.want || s.Source.Kind != spec.OldWorkerFile {
			t.Errorf("%s: got %s", c.sandbox, got)
		}
		if got := string(w.Spec().Node().AppendJSON(nil, nil)); got != "{}" {
			t.Errorf("%s: beside its paths it says %s", c.sandbox, got)
		}
	}
}

func FuzzWorkshop(f *testing.F) {
	for _, name := range []string{"workshop.yaml", "golem-forge.config.yaml"} {
		f.Add(read(f, workshop+name))
	}
	f.Add([]byte("a: b: c\nsandbox: {root: ., readonly: true}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, _, err := DecodeWorkshop("in", b)
		if !decodesOrSays(t, b, err) {
			return
		}
		again, err := spec.Decode("again.json", s.Source.Root.AppendJSON(nil, nil))
		if err != nil || !reflect.DeepEqual(withoutSource(again), withoutSource(s)) {
			t.Fatalf("%q: %v", b, err)
		}
		if !s.Sandbox.Set && !s.Filesystem.Set {
			t.Fatalf("%q: nothing is asked", b)
		}
	})
}

func FuzzWorker(f *testing.F) {
	for _, name := range []string{"analyzer", "editor", "old-style"} {
		f.Add(read(f, workshop+"workers/"+name+".worker"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := DecodeWorker("in", b)
		if !decodesOrSays(t, b, err) {
			return
		}
		specs := []*spec.SandboxSpec{w.Spec()}
		if w.Old != nil {
			specs = append(specs, w.OldSpec())
		}
		for _, s := range specs { // whatever it says, Resolve does not panic
			_, _ = spec.Resolve(s, spec.Inputs{Home: "/home/u", Cwd: "/p", Paths: empty{}})
		}
		again, err := spec.Decode("again.json", w.Spec().Source.Root.AppendJSON(nil, nil))
		if err != nil || !reflect.DeepEqual(withoutSource(again), withoutSource(w.Spec())) {
			t.Fatalf("%q: %v", b, err)
		}
	})
}

// decodesOrSays tells whether b was read; an error must have the one shape.
func decodesOrSays(t *testing.T, b []byte, err error) bool {
	t.Helper()
	var d *spec.DecodeError
	if err != nil && (!errors.As(err, &d) || d.Why == "" || strings.Contains(err.Error(), "\n")) {
		t.Fatalf("%q: %v", b, err)
	}
	return err == nil
}

// empty is a file system with nothing in its root.
type empty struct{}

func (empty) Lstat(path string) (spec.Info, error) {
	if path == "/" {
		return spec.Info{IsDir: true}, nil
	}
	return spec.Info{}, spec.NoEntry
}

func (empty) Readlink(string) (string, error) { return "", spec.NoEntry }

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func withoutSource(s *spec.SandboxSpec) spec.SandboxSpec {
	c := *s
	c.Source = spec.Source{}
	return c
}

// Seeds that are kept are there: a fuzz test over nothing passes.
func TestCorpora(t *testing.T) {
	for _, name := range []string{"FuzzAgentFile", "FuzzWorkshop", "FuzzWorker", "FuzzMigrate"} {
		seeds, err := os.ReadDir("testdata/fuzz/" + name)
		if err != nil || len(seeds) == 0 {
			t.Errorf("%s has no kept seeds: %v", name, err)
		}
	}
}
