package e2e

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// Characters that hide in a name, or change the direction of its text, are written out on stderr
// and by sbx show, once, and a backslash of the name itself remains distinguishable.
func TestHiddenCharactersAreShown(t *testing.T) {
	needSandbox(t)
	b := boxIn(t, elsewhere)
	for name, want := range map[string]string{
		"soft\u00adhyphen": `"` + b.out + `/soft\u00adhyphen"`, "join\u200der\\": `"` + b.out + `/join\u200der\\"`, "tag\U000e0041": `"` + b.out + `/tag\U000e0041"`,
		"variant\ufe0f": `"` + b.out + `/variant\ufe0f"`, "turn\u202e": `"` + b.out + `/turn\u202e"`, "byte\xff": `"` + b.out + `/byte\xff"`,
		`plain\xff\u00ad`: b.out + `/plain\xff\u00ad `, // the control: nothing is hidden
	} {
		b.args = []string{"--spec-json", `{"access_mode": "workspace-write"}`}
		r := b.run("", "/bin/sh", "-c", `(: > "$1"); echo end`, "sh", b.out+"/"+name).ended()
		if !strings.Contains(r.err, want) {
			t.Errorf("stderr of %q: %s", name, r.err)
		}
		must(t, os.Rename(b.rec, b.base+"/kept.json"))
		shown := b.plain(sbxPath, "show", b.base+"/kept.json")
		if !strings.Contains(shown.out, want) || strings.ContainsAny(shown.out, "\u00ad\u200d\U000e0041\ufe0f\u202e") || !utf8.ValidString(shown.out) {
			t.Errorf("show of %q: %s", name, shown.out)
		}
	}
	if r := b.plain(sbxPath, "show", "no\u00ad\\such"); !strings.Contains(r.err, `"no\u00ad\\such": cannot read a record`) {
		t.Errorf("%v", r)
	}
}
