package agent

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// WithFiles adds what the settings and server lists say that the caller's arguments contain, as
// JSON or as the name of a file. An agent trusts them like its flags, but flags override them.
// WithFiles skips a file that cannot be read, since the agent cannot read it either.
func (t Typed) WithFiles(read func(path string) []byte) Typed {
	for _, value := range t.settings {
		permissions := document(value, read).Get("permissions")
		if mode := permissions.Get("defaultMode"); mode != nil && t.Mode == "" {
			t.Mode, t.ModeAt = mode.Text, "--settings "+mode.Text
			if slices.Contains(claude.bypassModes, mode.Text) && t.Bypass == "" {
				t.Bypass = t.ModeAt
			}
		}
		if allow := permissions.Get("allow"); allow != nil {
			for _, item := range allow.Items {
				t.Tools = append(t.Tools, item.Text)
			}
		}
	}
	for _, value := range t.serverLists {
		if servers := document(value, read).Get("mcpServers"); servers != nil {
			for _, m := range servers.Members {
				t.Servers = append(t.Servers, m.Key)
			}
		}
	}
	return t
}

// document returns the JSON that a value contains or names; an empty object if it is invalid.
func document(value string, read func(path string) []byte) *spec.Node {
	text := []byte(value)
	if !strings.HasPrefix(strings.TrimSpace(value), "{") {
		text = read(value)
	}
	n, err := doc.ParseJSON("", text)
	if err != nil {
		return &spec.Node{Kind: spec.Object}
	}
	return n
}
