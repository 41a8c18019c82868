package wrap_test

import (
	"strconv"
	"strings"
	"testing"

	"sbx/landlock"
	"sbx/wrap"
	"sbx/wrap/world"
)

// lostWords has the words by which a line reports a lost right, with mounts and without.
var lostWords = map[string][2]string{
	"fs.refer":                   {"fs.refer", "fs.refer"},
	"fs.truncate":                {"fs.truncate", "truncate ("},
	"fs.ioctl_dev":               {"fs.ioctl_dev", "ioctl on devices"},
	"scope.abstract_unix_socket": {"no scopes", "no scopes"},
	"scope.signal":               {"no scopes", "no scopes"},
}

// Each right that an old kernel's Landlock lacks is reported on a line of the record, with mounts
// and without, and no right that it has is.
func TestLostRightsAreOnTheLines(t *testing.T) {
	for _, doc := range []string{
		`{"access_mode": "workspace-write", "best_effort": ["*"]}`,
		`{"access_mode": "read-only", "best_effort": ["*"]}`,
		`{"filesystem": {"read": ["@system", "."], "write": ["out"]}, "best_effort": ["*"]}`,
		`{"readonly": true, "best_effort": ["*"]}`,
		`{"sandbox": {"root": "/home/u/w"}, "best_effort": ["*"]}`,
		`{"commands": {"allow": ["make"]}, "best_effort": ["*"]}`,
		`{"network": {"mode": "none"}, "best_effort": ["*"]}`,
	} {
		for bare, host := range []string{"", world.Hosts["no-userns"]} {
			full := landlockOf(t, doc, host, landlock.Newest)
			for abi := 1; abi <= 7; abi++ {
				_, lost := full.Landlock.Downgrade(abi)
				plan := landlockOf(t, doc, host, abi)
				reasons := ""
				for _, e := range plan.Enforcement {
					reasons += e.Reason + "\n"
				}
				is := map[string]bool{}
				for _, l := range lost {
					is[l.Right] = true
				}
				for right, words := range lostWords {
					if word := words[bare]; strings.Contains(reasons, word) != is[right] {
						t.Errorf("%s, host %q, ABI %d: %s lost: %v, and the lines say\n%s", doc, host, abi, right, is[right], reasons)
					}
				}
			}
		}
	}
}

func landlockOf(t *testing.T, doc, host string, abi int) *wrap.Plan {
	t.Helper()
	_, plan, err := world.Workstation(t, host+"\nlandlock "+strconv.Itoa(abi)).Build(doc)
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return plan
}
