package spec

import (
	"slices"
	"testing"
)

// check compares an enumeration with its words: each value has one word, each word belongs to one
// value, and nothing else parses.
func check[E ~uint8](t *testing.T, name string, words []string, parse func(string) (E, bool), text func(E) string) {
	t.Helper()
	var all []string
	for e := range 256 {
		w := text(E(e))
		if w == "" {
			continue
		}
		all = append(all, w)
		if got, ok := parse(w); !ok || got != E(e) {
			t.Errorf("%s: %q parses as %d, %v, want %d", name, w, got, ok, e)
		}
	}
	if !slices.Equal(all, words) {
		t.Errorf("%s: values say %q, messages %q", name, all, words)
	}
	for _, w := range []string{"", "READ-ONLY", "x", words[0] + " "} {
		if got, ok := parse(w); ok {
			t.Errorf("%s: %q parses as %d", name, w, got)
		}
	}
}

func TestEnumerations(t *testing.T) {
	check(t, "access mode", accessModes, ParseAccessMode, AccessMode.String)
	check(t, "network mode", networkModes, ParseNetworkMode, NetworkMode.String)
	check(t, "mount mode", mountModes, ParseMountMode, MountMode.String)
	check(t, "on_exceed", onExceeds, ParseOnExceed, OnExceed.String)
	check(t, "profile", profiles, ParseProfile, Profile.String)
	check(t, "agent", agents, ParseAgent, Agent.String)
	check(t, "permission mode", PermissionModes, ParsePermissionMode, PermissionMode.String)
	for k := Null; k <= Object; k++ {
		if k.String() == Kind(0).String() {
			t.Errorf("kind %d has no words", k)
		}
	}
	for f := NoEntry; f <= NameTooLong; f++ {
		if f.Error() == Fault(0).Error() {
			t.Errorf("fault %d has no words", f)
		}
	}
}
