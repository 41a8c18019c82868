package agent

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// WithFiles adds what the settings and lists of servers say that the caller's
// arguments name, as JSON or by a file: an agent believes them as it does its
// flags, and a flag goes before them. What cannot be read the agent cannot
// either.
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

// document is the JSON that a value is, or names; an empty one where it is none.
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

func keys(m map[string]string) []string {
	all := make([]string, 0, len(m))
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// switches are the settings of codex's command line among its arguments, the
// last of a key.
func switches(args []string) map[string]string {
	all := map[string]string{}
	for i := 0; i < len(args); i++ {
		o, _, value, given := codex.option(args[i])
		if o == nil || o.means != isConfig && o.means != isFeature {
			continue
		}
		if !given && i+1 < len(args) {
			i++
			value = args[i]
		}
		if o.means == isFeature {
			all["features."+value] = o.is
			continue
		}
		key, set, _ := strings.Cut(value, "=")
		all[strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(set), `"'`)
	}
	return all
}
