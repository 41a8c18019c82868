package main

import (
	"strings"
	"testing"
)

// The verdict is of what a command can do without: one way to have namespaces is enough.
func TestDoctorBeginsWithItsVerdict(t *testing.T) {
	user, root := finding{namespaces + "user", "yes", "", ""}, finding{namespaces + "as root", "no", "the caller is not root", "run as root"}
	for want, found := range map[string][]finding{
		"sbx can enforce everything here":                                 {{"kernel", "", "6.1", ""}, user, root},
		"missing here: landlock, limits.memory; sbx can enforce all else": {user, root, {"landlock", "no", "too old", "boot a newer one"}, {"limits.memory", "no", "", "ask root"}},
		"sbx enforces less here: without namespaces":                      {{namespaces + "user", "no", "EPERM", "allow them"}, root},
	} {
		text := doctorText(found)
		if !strings.HasPrefix(text, want) {
			t.Errorf("want %q:\n%s", want, text)
		}
		for _, f := range found {
			needed := f.state == "no" && (f != root || strings.Contains(want, "less"))
			if f.help != "" && strings.Contains(text, f.help+"\n") != needed {
				t.Errorf("help of %s, which is needed: %v:\n%s", f.name, needed, text)
			}
		}
	}
}
