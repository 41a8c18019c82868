package spec

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sbx/internal/reach"
)

const examples = "../testdata/spec"

func files(t testing.TB, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(examples, pattern))
	if err != nil || len(all) == 0 {
		t.Fatalf("no examples in %s: %v", pattern, err)
	}
	return all
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecodeGood(t *testing.T) {
	for _, name := range append(files(t, "good/*.json"), files(t, "good/*.yaml")...) {
		s, err := Decode(filepath.Base(name), read(t, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Source.Name != filepath.Base(name) || s.Source.Root == nil {
			t.Errorf("%s: source %+v", name, s.Source)
		}
	}
}

func TestDecodeBad(t *testing.T) {
	for _, name := range files(t, "bad/*.txt") {
		want := strings.TrimSuffix(string(read(t, name)), "\n")
		doc := strings.TrimSuffix(name, ".txt")
		_, err := Decode(filepath.Base(doc), read(t, doc))
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", doc, err, want)
		}
	}
}

// Every field ends up in its place.
func TestDecodeEverything(t *testing.T) {
	s, err := Decode("everything.json", read(t, examples+"/good/everything.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := &SandboxSpec{
		ToolsAllowed: Some([]string{"Read", "mcp__github__*"}),
		ToolsDenied:  Some([]string{}),
		WorkingDir:   Some("~/project"),
		AccessMode:   Some(ReadOnly),
		MaxTurns:     Some(0),
		MaxCommands:  Some(1000),
		Profile:      Some(ProfileVerification),
		Sandbox:      Some(Workshop{Root: Some("./tree"), Readonly: Some(false)}),
		Restrict:     Some("/src"),
		Readonly:     Some(true),
		Filesystem: Some(Filesystem{
			Read:  Some([]string{"@system", "~/.cache", "./data"}),
			Write: Some([]string{".git", "**/.git", "/var/lib/thing"}),
			Hide:  Some([]string{"secrets", "~/.netrc"}),
			Mounts: Some([]Mount{
				{Label: "data", Source: "/srv/data", Target: "/data", Mode: MountRO},
				{Source: "~/out", Target: "~/out", Mode: MountRW},
				{Target: "/scratch", Mode: MountTmpfs},
			}),
		}),
		Network: Some(Network{
			Mode: Some(NetworkAllow),
			Allow: Some([]string{"example.com:443", "*.example.com:443", "10.0.0.0/8:5432", "[::1]:443",
				"[fd00::/8]:53", "@npm", "localhost:3000", "db:*"}),
			Listen: Some([]reach.Listen{reach.ListenAt(3000), {Address: reach.V4(0, 0, 0, 0), Host: 8080, Inside: 80}}),
		}),
		Environment: Some(Environment{
			Pass: Some([]string{"PATH", "LC_*"}),
			Set:  Some(map[string]string{"CI": "1", "EMPTY": ""}),
		}),
		Commands: Some(Commands{Allow: Some([]string{"git", "/usr/bin/make", "./target/"}), Deny: Some([]string{"curl"})}),
		Limits: Some(Limits{
			Memory: Some(Bytes(2 << 30)), CPUs: Some(1.5), PIDs: Some(256), OpenFiles: Some(1024),
			FileSize: Some(Bytes(100 << 20)), Timeout: Some(90 * time.Minute),
		}),
		Syscalls: Some("default"),
		Broker: Some(Broker{File: Some("broker.yaml"), Plan: Some("./plan.json"),
			Grant: Some([]string{"fs.read:~/notes", "net:example.com:443", "secret:TOKEN"})}),
		OnExceed:         Some(Kill),
		BestEffort:       Some([]string{"limits.memory", "limits", "*"}),
		RequireAvailable: Some(false),
		Agent:            Some(Claude),
	}
	got := *s
	got.Source = Source{}
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("got %+v\nwant %+v", &got, want)
	}
	// In reverse: a spec made in Go is written so that it reads the same.
	again, err := Decode("again.json", want.Node().AppendJSON(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	again.Source = Source{}
	if !reflect.DeepEqual(again, want) {
		t.Errorf("written and read again: %+v\nwant %+v", again, want)
	}
}

// Absent, empty and set are three different states.
func TestAbsentAndEmpty(t *testing.T) {
	absent, err := Decode("a.json", []byte(`{"filesystem": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	empty, err := Decode("e.json", []byte(`{"filesystem": {"read": []}}`))
	if err != nil {
		t.Fatal(err)
	}
	if absent.Filesystem.Value.Read.Set || !empty.Filesystem.Value.Read.Set || absent.Network.Set {
		t.Errorf("absent %+v, empty %+v", absent.Filesystem, empty.Filesystem)
	}
	if got := absent.WorkingDir.Or("x"); got != "x" {
		t.Errorf("Or: %q", got)
	}
	if got := Some("y").Or("x"); got != "y" {
		t.Errorf("Or: %q", got)
	}
}

func TestFormatByName(t *testing.T) {
	const yaml, json = "access_mode: read-only", `{"access_mode": "read-only"}`
	const onlyJSON = "{\"access_mode\"\t: \n\t\"read-only\"}" // YAML allows no tabs there
	for _, test := range []struct {
		name, in string
		ok       bool
	}{
		{"a.json", json, true}, {"a.json", yaml, false},
		{"a.yaml", yaml, true}, {"a.yaml", json, true}, {"a.yml", onlyJSON, false},
		{"-", yaml, true}, {"-", json, true}, {"-", " \n" + onlyJSON, true}, {"a.worker", yaml, true}, {"--spec-json", onlyJSON, true},
	} {
		if _, err := Decode(test.name, []byte(test.in)); (err == nil) != test.ok {
			t.Errorf("%s %q: %v", test.name, test.in, err)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`[]`, "in:1:1: want an object with the fields of a spec, got a list"},
		{`"x"`, "in:1:1: want an object with the fields of a spec, got a string"},
		{`{"x": 1}`, "in:1:2: x: unknown field"},
		{`{"Access-Mode": 1}`, "in:1:2: Access-Mode: unknown field (did you mean access_mode?)"},
		{`{"filesystem": {"raed": []}}`, "in:1:17: filesystem.raed: unknown field (did you mean read?)"},
		{`{"filesystem": {"allow": []}}`, "in:1:17: filesystem.allow: unknown field (did you mean network.allow?)"},
		{`{"filesystem": []}`, "in:1:16: filesystem: want an object, got a list"},
		{`{"filesystem": {"read": ["a", 1]}}`, "in:1:31: filesystem.read[1]: want a string, got a number"},
		{`{"filesystem": {"read": ["a", null]}}`, "in:1:31: filesystem.read[1]: want a string, got null"},
		{`{"filesystem": {"read": "a"}}`, "in:1:25: filesystem.read: want a list of strings, got a string"},
		{`{"filesystem": {"read": [""]}}`, "in:1:26: filesystem.read[0]: want a path, got an empty string"},
		{`{"filesystem": {"read": ["a\u0000b"]}}`, "in:1:26: filesystem.read[0]: a path with a NUL character"},
		{`{"filesystem": {"read": ["@sytem"]}}`, "in:1:26: filesystem.read[0]: unknown set of files (did you mean @system?)"},
		{`{"filesystem": {"write": ["@nmp"]}}`, "in:1:27: filesystem.write[0]: unknown set of files (did you mean @npm?)"},
		{`{"filesystem": {"read": ["@docker"]}}`, "in:1:26: filesystem.read[0]: @docker is a socket, which filesystem.write opens"},
		{`{"filesystem": {"hide": ["@npm"]}}`, "in:1:26: filesystem.hide[0]: a set of files is opened, never hidden"},
		{`{"filesystem": {"read": ["@nothing"]}}`, "in:1:26: filesystem.read[0]: unknown set of files"},
		{`{"filesystem": {"write": ["*.go"]}}`, "in:1:27: filesystem.write[0]: globs are not supported here"},
		{`{"filesystem": {"read": ["src/*"]}}`, "in:1:26: filesystem.read[0]: globs are not supported here"},
		{`{"filesystem": {"hide": ["**/a/.env"]}}`, "in:1:26: filesystem.hide[0]: want **/ and one name with one * at most, as in **/.env or **/*.pem"},
		{`{"filesystem": {"hide": ["**/*"]}}`, "in:1:26: filesystem.hide[0]: want **/ and one name with one * at most, as in **/.env or **/*.pem"},
		{`{"filesystem": {"hide": ["keys/*.pem"]}}`, "in:1:26: filesystem.hide[0]: globs are not supported here (did you mean **/*.pem?)"},
		{`{"filesystem": {"hide": ["*/*/x"]}}`, "in:1:26: filesystem.hide[0]: globs are not supported here (did you mean **/x?)"},
		{`{"filesystem": {"hide": ["@system"]}}`, "in:1:26: filesystem.hide[0]: @system cannot be hidden"},
		{`{"filesystem": {"write": ["@system"]}}`, "in:1:27: filesystem.write[0]: @system can be read, never written"},
		{`{"filesystem": {"write": ["**/a/b"]}}`, "in:1:27: filesystem.write[0]: want **/ and one name, as in **/.git"},
		{`{"filesystem": {"write": ["**/.."]}}`, "in:1:27: filesystem.write[0]: want **/ and one name, as in **/.git"},
		{`{"filesystem": {"write": ["a/**/b"]}}`, "in:1:27: filesystem.write[0]: globs are not supported here"},
		{`{"filesystem": {"read": ["~root/x"]}}`, "in:1:26: filesystem.read[0]: another user's home is not expanded"},
		{`{"filesystem": {"read": ["$HOME/x"]}}`, "in:1:26: filesystem.read[0]: variables are not expanded in paths (did you mean ~/x?)"},
		{`{"filesystem": {"read": ["${HOME}"]}}`, "in:1:26: filesystem.read[0]: variables are not expanded in paths (did you mean ~?)"},
		{`{"filesystem": {"mounts": {}}}`, "in:1:27: filesystem.mounts: want a list of mounts, got an object"},
		{`{"filesystem": {"mounts": [1]}}`, "in:1:28: filesystem.mounts[0]: want an object, got a number"},
		{`{"filesystem": {"mounts": [{"target": "/a", "mode": "ro"}]}}`, "in:1:28: filesystem.mounts[0]: a mount needs a source"},
		{`{"filesystem": {"mounts": [{"source": "/a", "mode": "ro"}]}}`, "in:1:28: filesystem.mounts[0]: a mount needs a target"},
		{`{"filesystem": {"mounts": [{"source": "/a", "target": "/a"}]}}`, "in:1:28: filesystem.mounts[0]: a mount needs a mode"},
		{`{"filesystem": {"mounts": [{"source": "/a", "target": "/a", "mode": "tmpfs"}]}}`, "in:1:39: filesystem.mounts[0].source: a tmpfs has no source"},
		{`{"filesystem": {"mounts": [{"source": "/a", "target": "a", "mode": "ro"}]}}`, `in:1:55: filesystem.mounts[0].target: want an absolute path, got "a"`},
		{`{"filesystem": {"mounts": [{"source": "/a", "target": "/a", "mode": "RO"}]}}`, `in:1:69: filesystem.mounts[0].mode: want one of ro, rw, tmpfs, got "RO" (did you mean ro?)`},
		{`{"access_mode": 1}`, "in:1:17: access_mode: want one of read-only, workspace-write, danger-full-access, got a number"},
		{`{"access_mode": "Read-Only"}`, `in:1:17: access_mode: want one of read-only, workspace-write, danger-full-access, got "Read-Only" (did you mean read-only?)`},
		{`{"access_mode": "workspace"}`, `in:1:17: access_mode: want one of read-only, workspace-write, danger-full-access, got "workspace"`},
		{`{"readonly": "yes"}`, "in:1:14: readonly: want true or false, got a string"},
		{`{"max_turns": -1}`, "in:1:15: max_turns: want a whole number ≥ 0, got -1"},
		{`{"max_turns": 1.5}`, "in:1:15: max_turns: want a whole number ≥ 0, got 1.5"},
		{`{"max_turns": 1e99}`, "in:1:15: max_turns: want a whole number of at most 9007199254740991, got 1e99"},
		{`{"limits": {"pids": 0}}`, "in:1:21: limits.pids: want a whole number ≥ 1, got 0"},
		{`{"limits": {"cpus": 0}}`, "in:1:21: limits.cpus: want a number of processors from 0.001 to 1000000, got 0"},
		{`{"limits": {"cpus": 1e400}}`, "in:1:21: limits.cpus: want a number of processors from 0.001 to 1000000, got 1e400"},
		{`{"limits": {"memory": 0}}`, `in:1:23: limits.memory: want a size such as "2GiB" or "100MB", or a whole number of bytes ≥ 1, got 0`},
		{`{"limits": {"memory": "2 gb"}}`, `in:1:23: limits.memory: want a size such as "2GiB" or "100MB", or a whole number of bytes ≥ 1, got "2 gb" (did you mean 2GB?)`},
		{`{"limits": {"memory": true}}`, `in:1:23: limits.memory: want a size such as "2GiB" or "100MB", or a whole number of bytes ≥ 1, got true or false`},
		{`{"limits": {"timeout": "1d"}}`, `in:1:24: limits.timeout: want a duration such as "30m", "1h30m" or "250ms", or a number of seconds ≥ 0.001, got "1d"`},
		{`{"limits": {"timeout": 0}}`, `in:1:24: limits.timeout: want a duration such as "30m", "1h30m" or "250ms", or a number of seconds ≥ 0.001, got 0`},
		{`{"network": {"listen": [0]}}`, "in:1:25: network.listen[0]: want a whole number from 1 to 65535, got 0"},
		{`{"network": {"listen": [65536]}}`, "in:1:25: network.listen[0]: want a whole number of at most 65535, got 65536"},
		{`{"network": {"listen": [80, 8.0e1]}}`, "in:1:29: network.listen[1]: the port 80 is there twice"},
		{`{"network": {"listen": [80, "0.0.0.0:80:3000"]}}`, "in:1:29: network.listen[1]: the port 80 is there twice"},
		{`{"network": {"listen": ["8080"]}}`, `in:1:25: network.listen[0]: a port alone is a number, got "8080" (did you mean 8080?)`},
		{`{"network": {"listen": ["localhost:80:80"]}}`, `in:1:25: network.listen[0]: want an address before the ports, got "localhost"`},
		{`{"network": {"allow": ["@nmp"]}}`, `in:1:24: network.allow[0]: unknown set of hosts "@nmp" (did you mean @npm?)`},
		{`{"network": {"allow": ["a.b:53/udp"]}}`, "in:1:24: network.allow[0]: UDP cannot be allowed, only TCP (did you mean a.b:53?)"},
		{`{"network": {"allow": [], "mode": "host"}}`, "in:1:23: network.allow: network.mode is host, so nothing can be allowed"},
		{`{"network": {"mode": "none", "allow": ["example.com:443"]}}`, "in:1:39: network.allow: network.mode is none, so nothing can be allowed"},
		{`{"environment": {"set": {"": "x"}}}`, `in:1:26: environment.set."": want the name of a variable, got an empty string`},
		{`{"environment": {"set": {"A": 1}}}`, "in:1:31: environment.set.A: want a string, got a number"},
		{`{"environment": {"set": {"A": "\u0000"}}}`, "in:1:31: environment.set.A: a string with a NUL character"},
		{`{"environment": {"set": []}}`, "in:1:25: environment.set: want an object of names and strings, got a list"},
		{`{"environment": {"pass": ["$A"]}}`, "in:1:27: environment.pass[0]: want a name or a glob, without $ (did you mean A?)"},
		{`{"environment": {"pass": ["A=b"]}}`, "in:1:27: environment.pass[0]: the name of a variable holds no = and no NUL (did you mean A?)"},
		{`{"commands": {"allow": [""]}}`, "in:1:25: commands.allow[0]: want a program's name or path, got an empty string"},
		{`{"sandbox": {}}`, "in:1:13: sandbox: a sandbox needs a root"},
		{`{"restrict": "src"}`, `in:1:14: restrict: want a path that starts with /, counted from the sandbox's root, got "src" (did you mean /src?)`},
		{`{"restrict": "/\u0000"}`, "in:1:14: restrict: a path with a NUL character"},
		{`{"best_effort": ["limits.mem"]}`, `in:1:18: best_effort[0]: want a field of the spec or *, got "limits.mem"`},
		{`{"best_effort": ["limits.pid"]}`, `in:1:18: best_effort[0]: want a field of the spec or *, got "limits.pid" (did you mean limits.pids?)`},
		{`{"best_effort": ["limit"]}`, `in:1:18: best_effort[0]: want a field of the spec or *, got "limit" (did you mean limits?)`},
		{`{"tools_allowed": ["Bash(git:*"]}`, `in:1:20: tools_allowed[0]: want a tool as Name or Name(rule), got "Bash(git:*"`},
		{`{"tools_allowed": ["Bash ()"]}`, `in:1:20: tools_allowed[0]: want a tool as Name or Name(rule), got "Bash ()"`},
		{`{"tools_allowed": ["Bash (x)"]}`, `in:1:20: tools_allowed[0]: want a tool as Name or Name(rule), got "Bash (x)" (did you mean Bash(x)?)`},
		{`{"agent": "cluade"}`, `in:1:11: agent: want one of claude, codex, gemini, none, got "cluade" (did you mean claude?)`},
		{"limits: {cpus: .inf}", "in:1:16: limits.cpus: want a number of processors from 0.001 to 1000000, got .inf"},
		{"limits: {cpus: .nan}", "in:1:16: limits.cpus: want a number of processors from 0.001 to 1000000, got .nan"},
		{"max_turns: .inf", "in:1:12: max_turns: want a whole number ≥ 0, got .inf"},
	} {
		_, err := Decode("in", []byte(test.in))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.in, err, test.want)
		}
	}
}

// A DecodeError is also a Problem, for printing and for the record.
func TestDecodeErrorAsProblem(t *testing.T) {
	_, err := Decode("spec.json", []byte("{\n \"max_turn\": 1}"))
	p := AsProblems(err)[0]
	if got, want := p.Error(), "max_turn (spec.json:2:2): cannot read the spec: unknown field (did you mean max_turns?)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if p.Field != "max_turn" || p.On != "spec.json:2:2" {
		t.Errorf("%+v", p)
	}
}

func TestProblems(t *testing.T) {
	a := &Problem{Field: "limits.memory", Do: "cap memory", Why: "no cgroup"}
	b := &Problem{On: "/x", Do: "read it"}
	if got, want := (Problems{a, b}).Error(), "limits.memory: cannot cap memory: no cgroup\n/x: cannot read it"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var p *Problem
	if !errors.As(error(Problems{a, b}), &p) || p != a {
		t.Errorf("no single problem in Problems: %v", p)
	}
	if Problems.one(Problems{a}) != error(a) {
		t.Error("one problem is not itself")
	}
}

// FuzzDecode checks that every document that can be read can be written, and then means the same.
func FuzzDecode(f *testing.F) {
	for _, name := range append(files(f, "*/*.json"), files(f, "*/*.yaml")...) {
		f.Add(read(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode("in", b)
		if err != nil {
			var d *DecodeError
			if !errors.As(err, &d) || d.Why == "" || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", b, err)
			}
			return
		}
		for kind, text := range map[string][]byte{
			"plain": s.Node().AppendJSON(nil, nil), "canonical": s.AppendCanonical(nil), "from Go": encoded(s).AppendJSON(nil, nil),
		} {
			again, err := Decode("again.json", text)
			if err != nil {
				t.Fatalf("%q, %s %q: %v", b, kind, text, err)
			}
			if !reflect.DeepEqual(withoutSource(again), withoutSource(s)) {
				t.Fatalf("%q, %s %q: another spec", b, kind, text)
			}
		}
	})
}

func withoutSource(s *SandboxSpec) SandboxSpec {
	c := *s
	c.Source = Source{}
	return c
}

// encoded returns a node made from the values of s.
func encoded(s *SandboxSpec) *Node {
	c := withoutSource(s)
	return c.Node()
}
