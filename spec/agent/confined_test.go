package agent

import (
	"strings"
	"testing"

	"sbx/spec"
)

// What a caller has codex's own sandbox keep is read from each of its spellings.
func TestConfinedBy(t *testing.T) {
	files := map[string]string{
		"/h/.codex/careful.config.toml": "sandbox_mode = 'read-only'\n",
		"/h/.codex/broken.config.toml":  "sandbox_mode\n",
		"/h/.codex/online.config.toml":  "sandbox_mode = \"workspace-write\"\n[sandbox_workspace_write]\nnetwork_access = true\n",
		"/h/.codex/quiet.config.toml":   "model = 'x'\n",
		"/h/.codex/config.toml":         "sandbox_mode = 'read-only'\n",
	}
	at := Place{Home: "/h", Start: "/p", Get: func(string) string { return "" },
		Read: func(path string) ([]byte, bool, error) { text, ok := files[path]; return []byte(text), ok, nil }}
	const both, network = "writes nothing, no network", "no network"
	for line, want := range map[string]string{
		"exec|x":                                        "",
		"exec|-s|danger-full-access|x":                  "",
		"exec|--yolo|x":                                 "",
		"exec|--|-s|read-only":                          "",
		"exec|-s|read-only|x":                           both + " by -s read-only",
		"-sread-only|exec|x":                            both + " by -s read-only",
		"exec|--sandbox=workspace-write|x":              network + " by --sandbox workspace-write",
		"--approve-for-me|x":                            network + " by --approve-for-me",
		"exec|-c|sandbox_mode=\"read-only\"|x":          both + " by -c sandbox_mode=read-only",
		"exec|-csandbox_mode=workspace-write|x":         network + " by -c sandbox_mode=workspace-write",
		"-c|default_permissions=\":read-only\"":         both + " by -c default_permissions=:read-only",
		"-c|default_permissions=mine":                   both + " by -c default_permissions=mine",
		"-c|sandbox_mode=danger-full-access":            "",
		"exec|-p|careful|x":                             both + " by -p careful",
		"exec|-p|broken|x":                              both + " by -p broken",
		"exec|-p|quiet|x":                               "",
		"exec|-p|careful|-s|workspace-write|x":          network + " by -s workspace-write",
		"-p|careful|-c|sandbox_mode=danger-full-access": "",
		"exec|-s|workspace-write|-c|sandbox_workspace_write.network_access=true": "nothing by -s workspace-write",
		"exec|-p|online|x": "nothing by -p online",
		"exec|-p|online|-c|sandbox_workspace_write.network_access=false": network + " by -p online",
	} {
		at.Typed = ReadArgs(spec.Codex, strings.Split(line, "|"))
		c, got := ConfinedBy(spec.Codex, at), ""
		switch {
		case c == Confined{}:
		case c.ReadOnly && c.NoNetwork:
			got = both + " by " + c.By
		case c.NoNetwork:
			got = network + " by " + c.By
		default:
			got = "nothing by " + c.By
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	at.Typed = ReadArgs(spec.Claude, []string{"--permission-mode", "plan"})
	if c := ConfinedBy(spec.Claude, at); c != (Confined{}) {
		t.Errorf("claude: %+v", c)
	}
}
