package e2e

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
)

// record is an effective record as any reader of JSON sees it.
type record map[string]any

func readRecord(path string) (record, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r record
	err = json.Unmarshal(b, &r)
	return r, err
}

// text returns a string at a path of keys, "" for none.
func (r record) text(keys ...string) string {
	s, _ := r.at(keys...).(string)
	return s
}

func (r record) at(keys ...string) any {
	var v any = map[string]any(r)
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

// list returns a list of objects under a key.
func (r record) list(key string) []record {
	var all []record
	items, _ := r[key].([]any)
	for _, it := range items {
		if m, ok := it.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// status returns the status in a line of the enforcement.
func (r record) status(field string) string {
	for _, l := range r.list("enforcement") {
		if l.text("field") == field {
			return l.text("status")
		}
	}
	return ""
}

// moved returns the paths that the sweep moved away.
func (r record) moved() []string {
	var all []string
	for _, m := range r.list("swept") {
		all = append(all, m.text("path"))
	}
	return all
}

// hasStatus fails unless a line has this status.
func (r record) hasStatus(t *testing.T, field, want string) {
	t.Helper()
	if got := r.status(field); got != want {
		t.Errorf("the record's line for %s says %q, want %q", field, got, want)
	}
}

// TestRecordBesideSecrets checks a record in the home, whose secrets are hidden by their names: in
// a home that is rebuilt from its entries, the record, which is newer than they, is missing.
func TestRecordBesideSecrets(t *testing.T) {
	needSandbox(t)
	for _, entries := range []int{0, 20} {
		b := newBoxElsewhere(t)
		b.write(b.home+"/.netrc", "secret")
		for i := range entries {
			b.write(b.home+"/entry"+strconv.Itoa(i), "")
		}
		path := b.home + "/record.json"
		for range 2 { // the second time it exists
			r := b.plain(sbxPath, "exec", "-q", "--effective", path, "--spec-json", specWW, "--",
				"/bin/sh", "-c", `grep state "$0"; echo x >> "$0"; rm -f "$0"; cat "$1"; echo the end`, path, b.home+"/.netrc")
			text, err := os.ReadFile(path)
			if r.code != 0 || r.out != "the end\n" || err != nil || !strings.Contains(string(text), `"exited"`) {
				t.Errorf("%d entries: status %d: %s%s\n%v", entries, r.code, r.out, r.err, err)
			}
		}
	}
}

// A link that an earlier command left in the workspace does not decide where the record goes.
func TestRecordIsNotLedAstray(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	must(t, os.Mkdir(b.ws+"/sub", 0o755))
	must(t, os.Symlink(b.out, b.ws+"/out"))
	must(t, os.Symlink("sub", b.ws+"/in"))
	must(t, os.Symlink(b.ws+"/sub", b.base+"/mine"))
	for rec, want := range map[string]string{
		"out/rec.json": "", b.ws + "/out/rec.json": "", "../ws/out/rec.json": "",
		"in/rec.json": b.ws + "/sub/rec.json", b.base + "/mine/rec.json": b.ws + "/sub/rec.json", b.out + "/rec.json": b.out + "/rec.json",
	} {
		for _, f := range []string{b.out, b.ws + "/sub"} {
			os.Remove(f + "/rec.json")
		}
		b.rec = rec
		r := b.sh(specWW, "echo end")
		if want == "" {
			if r.refused("leads out of the workspace"); exists(b.out + "/rec.json") {
				t.Errorf("%s: written where the link leads", rec)
			}
		} else if r.ended(); !exists(want) {
			t.Errorf("%s: not at %s: %v", rec, want, r)
		}
	}
	// Nor does it if this run's spec restricts nothing: an earlier one's may have. The control: a
	// link where no command writes is followed.
	must(t, os.Symlink(b.out, b.base+"/far"))
	for rec, want := range map[string]int{"out/rec.json": 125, b.base + "/far/rec.json": 0} {
		os.Remove(b.out + "/rec.json")
		b.rec = rec
		if r := b.sh(specNone, "echo end"); r.code != want || exists(b.out+"/rec.json") != (want == 0) {
			t.Errorf("%s: %v", rec, r)
		}
	}
}

// A refusal has a record, too, and the command that left the link may have caused the refusal.
func TestRecordOfARefusalIsNotLedAstray(t *testing.T) {
	b := newBoxElsewhere(t)
	must(t, os.Mkdir(b.ws+"/sub", 0o755))
	must(t, os.Symlink(b.out, b.ws+"/out"))
	must(t, os.Symlink("sub", b.ws+"/in"))
	gone := `"filesystem":{"read":["` + b.ws + `/gone"]}}`
	for _, c := range []struct{ dir, spec, rec, want string }{
		{b.ws, `{"access_mode":"workspace-write",` + gone, "out/rec.json", ""},
		{b.ws, `{"access_mode":"workspace-write","working_dir":"gone"}`, "out/rec.json", ""},
		{b.ws, `{"access_mode":"workspace-write","filesystem":{"write":["out"]}}`, "out/rec.json", ""},
		{b.ws, `{`, "out/rec.json", ""},
		{b.base, `{"access_mode":"workspace-write","working_dir":"` + b.ws + `",` + gone, "ws/out/rec.json", ""},
		// The controls use another place.
		{b.ws, `{"access_mode":"workspace-write",` + gone, "in/rec.json", b.ws + "/sub/rec.json"},
		{b.home, `{"access_mode":"workspace-write",` + gone, b.ws + "/out/rec.json", b.out + "/rec.json"},
	} {
		must(t, os.RemoveAll(b.out))
		must(t, os.Mkdir(b.out, 0o755))
		b.rec = c.rec
		b.runIn(c.dir, "", c.spec, "/bin/echo", "end").refused("")
		if c.want == "" && exists(b.out+"/rec.json") {
			t.Errorf("%s: %s: written where the link leads", c.spec, c.rec)
		}
		if c.want != "" && !exists(c.want) {
			t.Errorf("%s: %s: not at %s", c.spec, c.rec, c.want)
		}
	}
}
