package listen

import (
	"testing"

	"sbx/wrap"
)

// TestKindOf: every reported action has a kind for which a line of the spec is looked up.
func TestKindOf(t *testing.T) {
	for action, want := range map[string]wrap.ActKind{
		"create": wrap.ToMake, makeDir: wrap.ToMake, MakeLink: wrap.ToLink, makeSocket: wrap.ToLink,
		"rename": wrap.ToTake, "remove": wrap.ToTake, removeDir: wrap.ToTake,
		Execute: wrap.ToRead, "open": wrap.ToRead, "open for reading": wrap.ToRead,
		"open for writing": wrap.ToWrite, "truncate": wrap.ToWrite,
	} {
		if got := KindOf(action); got != want {
			t.Errorf("%s: %v, not %v", action, got, want)
		}
	}
	for call, c := range nameCalls {
		if kind := KindOf(c.action); kind == wrap.ToWrite || kind == wrap.ToTake != (c.takes != nowhere) {
			t.Errorf("%s, which is to %s, is of the kind %v", call, c.action, kind)
		}
	}
}
