package oci

import (
	"slices"
	"testing"

	"sbx/internal/doc"
	"sbx/spec"
)

func parsed(t *testing.T, text string) *doc.Node {
	t.Helper()
	n, err := doc.ParseJSON("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNarrowing(t *testing.T) {
	n := &Narrowing{Init: true, Caps: []string{"CAP_CHOWN"}, Files: 64, Size: -1, NoNew: true, Limited: true, Names: []string{"PATH"}}
	for _, c := range []struct{ process, want string }{
		{`{"args": ["a", "b"]}`,
			`{"args":["/dev/.sbx-init","3","a","b"],"noNewPrivileges":true,"rlimits":[{"hard":64,"soft":64,"type":"RLIMIT_NOFILE"}]}`},
		{`{"args": ["a"], "noNewPrivileges": false, "capabilities": {"bounding": ["CAP_CHOWN", "CAP_SYS_ADMIN"], "other": []}, "rlimits": [{"type": "RLIMIT_CORE", "hard": 1, "soft": 1}, {"type": "RLIMIT_NOFILE", "hard": 32, "soft": 16}]}`,
			`{"args":["/dev/.sbx-init","3","a"],"capabilities":{"ambient":[],"bounding":["CAP_CHOWN"],"effective":[],"inheritable":[],"other":[],"permitted":[]},"noNewPrivileges":true,"rlimits":[{"hard":1,"soft":1,"type":"RLIMIT_CORE"},{"hard":32,"soft":16,"type":"RLIMIT_NOFILE"}]}`},
		{`{"args": ["a"], "rlimits": [{"type": "RLIMIT_NOFILE", "hard": 18446744073709551615, "soft": 16}]}`,
			`{"args":["/dev/.sbx-init","3","a"],"noNewPrivileges":true,"rlimits":[{"hard":64,"soft":16,"type":"RLIMIT_NOFILE"}]}`},
		{`{"args": ["a"], "rlimits": [{"type": "RLIMIT_NOFILE", "hard": -1, "soft": -1}]}`,
			`{"args":["/dev/.sbx-init","3","a"],"noNewPrivileges":true,"rlimits":[{"hard":64,"soft":64,"type":"RLIMIT_NOFILE"}]}`},
	} {
		p := parsed(t, c.process)
		if got := string(apply(p, n.edits(p, 3)).AppendCanonical(nil)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.process, got, c.want)
		}
	}
	if again := narrowingOf(parsed(t, string(n.node().AppendJSON(nil, nil)))); string(again.node().AppendCanonical(nil)) != string(n.node().AppendCanonical(nil)) || !again.Init || again.Size != -1 {
		t.Errorf("read back: %+v", again)
	}
	n.Set = []string{"PATH=/spec"}
	if got := n.environ([]string{"PATH=/bin", "TOKEN=x", "TERM=xterm"}); !slices.Equal(got, []string{"TERM=xterm", "PATH=/spec"}) {
		t.Error(got)
	}
}

// TestClear: runc's decoder ignores the case of member names and uses the last of two, and crun ends
// strings at a NUL.
func TestClear(t *testing.T) {
	for text, want := range map[string]bool{
		`{"process": {"args": ["a"]}, "annotations": {"ARGS": "x", "Process": "y"}, "linux": {"sysctl": {"Type": "z"}}}`: true,
		`{"process": {"args": ["a"], "ARGS": ["b"]}}`:                                                                    false,
		`{"Process": {"args": ["a"]}}`:                                                                                   false,
		`{"mounts": [{"destination": "/x", "Source": "/etc"}]}`:                                                          false,
		`{"proce\u017f\u017f": {}}`:                                                                                      false, // ſ folds to s
		`{"process\u0000": {"args": ["b"]}}`:                                                                             false,
		`{"annotations": {"a\u0000b": "c"}}`:                                                                             false,
		`{"annotations": {"a": "b\u0000c"}}`:                                                                             false,
		`{"process": {"args": ["a", "b\u0000c"]}}`:                                                                       false,
		`{"annotations": {"a": "\\u0000", "b": "\u0001"}}`:                                                               true,
	} {
		if err := clear(parsed(t, text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestKeys: no id names the state of a container of another root.
func TestKeys(t *testing.T) {
	keys := map[string]bool{}
	for _, root := range []string{"", "/run/runc", "/run/user/1000/runc", "/run/containerd/runc/default", "/run/containerd/runc/moby"} {
		c := Call{Line: Line{Global: []string{"--root", root}, Rest: []string{"n"}}, Inner: "/usr/bin/runc"}
		key := c.key()
		if keys[key] && root != "/run/runc" || key != "n" && isName(key) || len(key) > 255-199 {
			t.Errorf("%s: %s, with %v", root, key, keys)
		}
		keys[key] = true
	}
}

// TestNamespacesTwice: of two namespaces of a type, crun takes the last and runc none.
func TestNamespacesTwice(t *testing.T) {
	for list, want := range map[string]bool{`{"type": "pid"}, {"type": "ipc"}`: true, `{"type": "pid"}, {"type": "pid", "path": "/proc/1/ns/pid"}`: false} {
		if _, err := Decode("x", "/", []byte(`{"linux": {"namespaces": [`+list+`]}}`)); (err == nil) != want {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// TestUnifiedLimits: the lower of two limits applies, even if the engine gives its limit as a file
// of a control group.
func TestUnifiedLimits(t *testing.T) {
	limits := spec.Limits{Memory: spec.Some(spec.Bytes(1 << 20)), PIDs: spec.Some(10), CPUs: spec.Some(0.5)}
	for unified, want := range map[string]string{
		`{"pids.max": "max", "memory.max": "max", "memory.swap.max": "max", "cpu.max": "max", "cpu.max.burst": "5", "io.weight": "5"}`: `{"cpu.max":"50000 100000","cpu.max.burst":"0","io.weight":"5","memory.max":"1048576","memory.swap.max":"0","pids.max":"10"}`,
		`{"pids.max": "5", "memory.max": "4096", "cpu.max": "10000 100000"}`:                                                           `{"cpu.max":"10000 100000","memory.max":"4096","pids.max":"5"}`,
		`{"cpu.max": "90000 100000"}`: `{"cpu.max":"50000 100000"}`,
	} {
		c := &Container{Config: parsed(t, `{"linux": {"resources": {"unified": `+unified+`}}}`)}
		e := editor{c: c, groups: true, s: &Seen{Resolved: &spec.Resolved{Spec: &spec.SandboxSpec{Limits: spec.Some(limits)}}}}
		e.limits()
		if got := string(at(apply(c.Config, e.edits), "linux.resources.unified").AppendCanonical(nil)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", unified, got, want)
		}
	}
}

// TestAllows: the container's own list of system calls decides whether Landlock is available.
func TestAllows(t *testing.T) {
	for _, c := range []struct {
		seccomp string
		want    bool
	}{
		{`null`, true},
		{`{"defaultAction": "SCMP_ACT_ALLOW"}`, true},
		{`{"defaultAction": "SCMP_ACT_ERRNO"}`, false},
		{`{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["x", "landlock_add_rule"], "action": "SCMP_ACT_ALLOW"}]}`, true},
		{`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["landlock_add_rule"], "action": "SCMP_ACT_ERRNO"}]}`, false},
		{`{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["landlock_add_rule"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]}]}`, false},
		{`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["landlock_add_rule"], "action": "SCMP_ACT_ERRNO", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]}]}`, false},
		{`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["landlock_add_rule"], "action": "SCMP_ACT_ERRNO"}, {"names": ["landlock_add_rule"], "action": "SCMP_ACT_ALLOW"}]}`, false},
		{`{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["landlock_add_rule"], "action": "SCMP_ACT_ALLOW"}, {"names": ["landlock_add_rule"], "action": "SCMP_ACT_ERRNO"}]}`, false},
		{`{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["landlock_add_rule"], "action": "SCMP_ACT_ALLOW"}, {"names": ["landlock_add_rule"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]}]}`, true},
	} {
		c1 := &Container{Config: parsed(t, `{"linux": {"seccomp": `+c.seccomp+`}}`)}
		if got := c1.allows("landlock_add_rule"); got != c.want {
			t.Errorf("%s: %v", c.seccomp, got)
		}
	}
}
