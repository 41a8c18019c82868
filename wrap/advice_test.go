package wrap_test

import (
	"testing"

	"sbx/spec"
	"sbx/wrap"
)

// An advised line keeps the entries that its list has. If there is no list yet, it includes the
// rest of the host.
func TestAdvisedLines(t *testing.T) {
	list := func(names ...string) spec.Opt[[]string] { return spec.Some(names) }
	none := spec.Opt[[]string]{}
	resolved := func(read, write, allow, deny spec.Opt[[]string]) *spec.Resolved {
		s := &spec.SandboxSpec{}
		s.Filesystem = spec.Some(spec.Filesystem{Read: read, Write: write})
		s.Commands = spec.Some(spec.Commands{Allow: allow, Deny: deny})
		r := &spec.Resolved{Spec: s, Visible: read.Set, WorkingDir: spec.Path{Real: "/w"}}
		for _, name := range read.Value {
			r.System = r.System || name == spec.System
		}
		return r
	}
	bare := resolved(none, none, none, none)
	full := resolved(list("src"), list("a", "b"), list("sh"), list("rm", "dd"))
	system := resolved(list(spec.System), none, none, none)
	for _, c := range []struct{ what, got, want string }{
		{"the first path to read", wrap.Reading(bare, "/home/u/.ssh"), `filesystem.read: ["/", "/home/u/.ssh"]`},
		{"one more path to read", wrap.Reading(full, "/home/u/.ssh"), `filesystem.read: ["src", "/home/u/.ssh"]`},
		{"a program of the system", wrap.Reading(full, "/usr/bin/dash"), `filesystem.read: ["@system", "src"]`},
		{"a loader", wrap.Reading(full, "/lib64/ld-linux-x86-64.so.2"), `filesystem.read: ["@system", "src"]`},
		{"what @system lacks", wrap.Reading(system, "/usr/bin/dash"), `filesystem.read: ["@system", "/usr/bin/dash"]`},
		{"what is listed", wrap.Reading(full, "/w/src"), ""},
		{"no name for a document", wrap.Reading(full, "/a*"), ""},
		{"no path", wrap.Reading(full, ""), ""},
		{"the first path to write", wrap.Writing(bare, "/w/x"), `filesystem.write: ["x"]`},
		{"one more path to write", wrap.Writing(full, "/etc/\"x"), `filesystem.write: ["a", "b", "/etc/\"x"]`},
		{"the workspace itself", wrap.Writing(bare, "/w"), `filesystem.write: ["/w"]`},
		{"a name like a sign", wrap.Writing(bare, "/w/~"), `filesystem.write: ["./~"]`},
		{"no text", wrap.Writing(bare, "/w/\xff"), ""},
		{"one more program", wrap.Starting(full, "date"), `commands.allow: ["sh", "date"]`},
		{"a program that is listed", wrap.Starting(full, "sh"), ""},
		{"a program that is denied", wrap.Undenied(full, "rm"), `commands.deny: ["dd"]`},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
	if got := full.Spec.Filesystem.Value.Write.Value; len(got) != 2 {
		t.Errorf("the spec changed: %q", got)
	}
}
