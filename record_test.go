package sbx

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"sbx/audit"
)

// Each field of the record's types is a key of the schema, of the schema's type.
func TestRecordFollowsItsSchema(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal([]byte(audit.Schema()), &schema); err != nil {
		t.Fatal(err)
	}
	if n := follow(t, "record", reflect.TypeFor[Record](), schema); n < 60 {
		t.Errorf("only %d keys were looked at", n)
	}
}

// follow holds a type to its schema, and counts the keys.
func follow(t *testing.T, at string, typ reflect.Type, schema map[string]any) (keys int) {
	t.Helper()
	want := ""
	switch typ.Kind() {
	case reflect.Pointer:
		return follow(t, at, typ.Elem(), schema)
	case reflect.Slice:
		items, _ := schema["items"].(map[string]any)
		keys = follow(t, at+"[]", typ.Elem(), items)
		want = "array"
	case reflect.Int, reflect.Int64:
		want = "integer"
	case reflect.String:
		want = "string"
	case reflect.Struct:
		if want = "string"; typ != reflect.TypeFor[time.Time]() {
			want = "object"
			properties, _ := schema["properties"].(map[string]any)
			for i := range typ.NumField() {
				f := typ.Field(i)
				key := f.Tag.Get("json")
				if key == "-" || !f.IsExported() {
					continue
				}
				property, ok := properties[key].(map[string]any)
				if !ok {
					t.Errorf("%s: %s has no key %q in the schema", at, f.Name, key)
					continue
				}
				keys += 1 + follow(t, at+"."+key, f.Type, property)
			}
		}
	}
	if got, _ := schema["type"].(string); got != want && (got != "" || schema["enum"] == nil) {
		t.Errorf("%s is %s here, and in the schema %v", at, want, schema["type"])
	}
	return keys
}

// What a command has put in the record's place is neither waited for nor believed.
func TestRecordThatIsNone(t *testing.T) {
	dir := t.TempDir()
	whole := `{"record_version": 1, "id": "x", "state": "running", "commands_used": 2, "new_key": {"a": 1}}`
	r, err := readRecord(file(t, dir+"/whole", whole))
	if err != nil || r.State != "lost" || r.CommandsUsed == nil || *r.CommandsUsed != 2 || r.TurnsUsed != nil || string(r.JSON) != whole {
		t.Errorf("%+v %v", r, err)
	}
	if err := syscall.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", dir+"/device"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir + "/none":                    "no record was left",
		dir + "/fifo":                    "no record was left: is not a regular file",
		dir + "/device":                  "no record was left: is not a regular file",
		dir:                              "no record was left",
		file(t, dir+"/half", whole[:40]): "cannot read the record",
		file(t, dir+"/next", strings.Replace(whole, ": 1,", ": 2,", 1)):    "version 2",
		file(t, dir+"/odd", `{"id": "x"}`):                                 "version 0",
		file(t, dir+"/large", whole[:40]+strings.Repeat(" ", maxRecord+1)): "cannot read the record",
	} {
		if r, err := readRecord(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v %v, want %q", path, r, err, want)
		}
	}
}

func file(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
