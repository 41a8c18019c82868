package e2e

import (
	"encoding/json"
	"os"
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

// text is a string at a path of keys, "" where there is none.
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

// list is a list of objects under a key.
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

// status is that of a line of the enforcement.
func (r record) status(field string) string {
	for _, l := range r.list("enforcement") {
		if l.text("field") == field {
			return l.text("status")
		}
	}
	return ""
}

// moved are the paths that the sweep moved away.
func (r record) moved() []string {
	var all []string
	for _, m := range r.list("swept") {
		all = append(all, m.text("path"))
	}
	return all
}

// hasStatus demands a status of a line.
func (r record) hasStatus(t *testing.T, field, want string) {
	t.Helper()
	if got := r.status(field); got != want {
		t.Errorf("the record's line for %s says %q, want %q", field, got, want)
	}
}
