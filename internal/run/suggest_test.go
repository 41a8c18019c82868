package run

import "testing"

// A line is taken where it is about what was denied: whoever wrote the record could have
// had any other suggested.
func TestLinesOfARecord(t *testing.T) {
	for _, c := range []struct {
		kind, line string
		taken      bool
	}{
		{"command", `commands.allow: ["make"]`, true},
		{"command", "max_commands: 4", true},
		{"command", "access_mode: danger-full-access", false},
		{"command", `environment.set: {"LD_PRELOAD": "x"}`, false},
		{"network", `network: {"allow": ["a.example:443"]}`, true},
		{"network", `filesystem.write: ["/"]`, false},
		{"limit", "limits.file_size: 1MiB", true},
		{"limit", "agent: claude", false},
		{"tool", `tools_allowed: ["Bash"]`, true},
		{"filesystem", `filesystem.write: ["/"]`, false}, // the View judges it
		{"syscall", "syscalls: none", false},
	} {
		d := Denied{Kind: c.kind, Line: c.line}
		if got := d.line() == c.line; got != c.taken {
			t.Errorf("%s %s: taken %v", c.kind, c.line, got)
		}
	}
}
