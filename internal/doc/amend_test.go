package doc

import "testing"

func TestAmend(t *testing.T) {
	for _, c := range []struct{ name, base, now, line, want string }{
		{"a field that is not there", `{}`, `{}`, `filesystem.write: ["/etc"]`, `{"filesystem":{"write":["/etc"]}}`},
		{"one more", `{"filesystem":{"write":["a"]}}`, `{"filesystem":{"write":["a"]}}`, `filesystem.write: ["a", "b"]`, `{"filesystem":{"write":["a","b"]}}`},
		{"beside another", `{"filesystem":{"write":["a"]}}`, `{"filesystem":{"write":["a","c"]}}`, `filesystem.write: ["a", "b"]`, `{"filesystem":{"write":["a","c","b"]}}`},
		{"one less", `{"commands":{"deny":["a","b"]}}`, `{"commands":{"deny":["a","b","c"]}}`, `commands.deny: ["b"]`, `{"commands":{"deny":["b","c"]}}`},
		{"both lists are new", `{}`, `{"network":{"allow":["a:1"]}}`, `network.allow: ["b:2"]`, `{"network":{"allow":["a:1","b:2"]}}`},
		{"a whole field", `{"network":{"mode":"none"}}`, `{"network":{"mode":"none"}}`, `network: {"allow": ["a:1"]}`, `{"network":{"allow":["a:1"]}}`},
		{"a number", `{"max_commands":3}`, `{"max_commands":9}`, `max_commands: 4`, `{"max_commands":9}`},
		{"a larger number", `{"max_commands":3}`, `{"max_commands":4}`, `max_commands: 11`, `{"max_commands":11}`},
		{"a word", `{"access_mode":"read-only"}`, `{"access_mode":"read-only","max_commands":1}`, `access_mode: workspace-write`, `{"access_mode":"workspace-write","max_commands":1}`},
		{"in a list", `{"filesystem":{"mounts":[{"mode":"ro"}]}}`, `{"filesystem":{"mounts":[{"mode":"ro","label":"x"}]}}`, `filesystem.mounts[0].mode: rw`,
			`{"filesystem":{"mounts":[{"label":"x","mode":"rw"}]}}`},
		{"no such item", `{"filesystem":{"mounts":[]}}`, `{"filesystem":{"mounts":[]}}`, `filesystem.mounts[3].mode: rw`, `{"filesystem":{"mounts":[]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, err := ParseJSON("base", []byte(c.base))
			if err != nil {
				t.Fatal(err)
			}
			now, err := ParseJSON("now", []byte(c.now))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Amend(base, now, c.line)
			if err != nil {
				t.Fatal(err)
			}
			if text := string(got.AppendCanonical(nil)); text != c.want {
				t.Errorf("%s, want %s", text, c.want)
			}
			if text := string(now.AppendJSON(nil, nil)); text != c.now {
				t.Errorf("what it began with became %s", text)
			}
		})
	}
	for _, line := range []string{"", "filesystem.write", "filesystem.write: [", "a: {b: 1, b: 2}"} {
		if n, err := Amend(&Node{Kind: Object}, &Node{Kind: Object}, line); err == nil {
			t.Errorf("%q became %s", line, n.AppendJSON(nil, nil))
		}
	}
}
