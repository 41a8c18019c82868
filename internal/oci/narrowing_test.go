package oci

import (
	"testing"

	"sbx/internal/doc"
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
	n := &Narrowing{Init: true, Cut: true, Caps: []string{"CAP_CHOWN"}, Files: 64, Size: -1, NoNew: true, Limited: true, Names: []string{"PATH"}}
	for _, c := range []struct{ process, want string }{
		{`{"args": ["a", "b"]}`,
			`{"args":["/dev/.sbx-init","3","a","b"],"capabilities":{"ambient":["CAP_CHOWN"],"bounding":["CAP_CHOWN"],"effective":["CAP_CHOWN"],"inheritable":["CAP_CHOWN"],"permitted":["CAP_CHOWN"]},"noNewPrivileges":true,"rlimits":[{"hard":64,"soft":64,"type":"RLIMIT_NOFILE"}]}`},
		{`{"args": ["a"], "noNewPrivileges": false, "capabilities": {"bounding": ["CAP_CHOWN", "CAP_SYS_ADMIN"], "other": []}, "rlimits": [{"type": "RLIMIT_CORE", "hard": 1, "soft": 1}, {"type": "RLIMIT_NOFILE", "hard": 32, "soft": 16}]}`,
			`{"args":["/dev/.sbx-init","3","a"],"capabilities":{"ambient":[],"bounding":["CAP_CHOWN"],"effective":[],"inheritable":[],"other":[],"permitted":[]},"noNewPrivileges":true,"rlimits":[{"hard":1,"soft":1,"type":"RLIMIT_CORE"},{"hard":32,"soft":16,"type":"RLIMIT_NOFILE"}]}`},
	} {
		p := parsed(t, c.process)
		if got := string(apply(p, n.edits(p, 3)).AppendCanonical(nil)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.process, got, c.want)
		}
	}
	if again := narrowingOf(parsed(t, string(n.node().AppendJSON(nil, nil)))); string(again.node().AppendCanonical(nil)) != string(n.node().AppendCanonical(nil)) || !again.Init || again.Size != -1 {
		t.Errorf("read back: %+v", again)
	}
	if got := n.environ([]string{"PATH=/bin", "TOKEN=x", "TERM=xterm"}); len(got) != 2 {
		t.Error(got)
	}
}

// A list of system calls of the container's own decides whether Landlock can be had.
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
	} {
		c1 := &Container{Config: parsed(t, `{"linux": {"seccomp": `+c.seccomp+`}}`)}
		if c.seccomp == `null` {
			c1.Config = parsed(t, `{}`)
		}
		if got := c1.allows("landlock_add_rule"); got != c.want {
			t.Errorf("%s: %v", c.seccomp, got)
		}
	}
}
