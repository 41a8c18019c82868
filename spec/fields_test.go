package spec

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"sbx/internal/doc"
)

// leaves walks the struct of the spec: a field is an object if its Opt contains a struct.
func leaves(t reflect.Type, outer string) (all []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "Source" {
			continue
		}
		name := doc.Join(outer, snake(f.Name))
		value, ok := f.Type.FieldByName("Value")
		if !ok {
			continue
		}
		if value.Type.Kind() == reflect.Struct {
			all = append(all, leaves(value.Type, name)...)
			continue
		}
		all = append(all, name)
	}
	return all
}

// snake turns MaxTurns into max_turns, CPUs into cpus and PIDs into pids.
func snake(name string) string {
	if name == "CPUs" || name == "PIDs" {
		return strings.ToLower(name)
	}
	var s strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			s.WriteByte('_')
		}
		s.WriteRune(r)
	}
	return strings.ToLower(s.String())
}

func tableNames[T any](outer string, table []member[T], isObject func(string) bool) (all []string) {
	for _, m := range table {
		if !isObject(m.Name) {
			all = append(all, doc.Join(outer, m.Name))
		}
	}
	return all
}

// SandboxSpec, Fields, the decoder and the encoder have the same fields in the same order.
// TestSchemaDescribes compares the schema with Fields.
func TestFieldsAgree(t *testing.T) {
	structs := leaves(reflect.TypeFor[SandboxSpec](), "")

	var listed []string
	for _, f := range Fields() {
		listed = append(listed, string(f.Field))
		if f.Type == "" || f.Doc == "" || strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%s: type %q, doc %q", f.Field, f.Type, f.Doc)
		}
	}

	objects := map[string][]string{}
	none := func(string) bool { return false }
	objects["sandbox"] = tableNames("sandbox", workshopFields, none)
	objects["filesystem"] = tableNames("filesystem", filesystemFields, none)
	objects["network"] = tableNames("network", networkFields, none)
	objects["environment"] = tableNames("environment", environmentFields, none)
	objects["commands"] = tableNames("commands", commandsFields, none)
	objects["limits"] = tableNames("limits", limitsFields, none)
	objects["broker"] = tableNames("broker", brokerFields, none)
	var decoded []string
	for _, m := range specFields {
		if inner, ok := objects[m.Name]; ok {
			decoded = append(decoded, inner...)
			continue
		}
		decoded = append(decoded, m.Name)
	}

	if !slices.Equal(structs, listed) {
		t.Errorf("SandboxSpec has %q\nFields        %q", structs, listed)
	}
	if !slices.Equal(decoded, listed) {
		t.Errorf("the decoder has %q\nFields          %q", decoded, listed)
	}

	s, err := Decode("everything.json", read(t, examples+"/good/everything.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Fields() {
		if lookUp(s.Source.Root, f.Field) == nil {
			t.Errorf("good/everything.json lacks %s", f.Field)
		}
		if lookUp(encoded(s), f.Field) == nil {
			t.Errorf("the encoder drops %s", f.Field)
		}
	}
	mounts := tableNames("", mountFields, none)
	if want := leavesOfMount(); !slices.Equal(mounts, want) {
		t.Errorf("the decoder of mounts has %q, Mount %q", mounts, want)
	}
}

func leavesOfMount() (all []string) {
	mount := reflect.TypeFor[Mount]()
	for i := range mount.NumField() {
		all = append(all, snake(mount.Field(i).Name))
	}
	return all
}

// Fields returns a copy.
func TestFieldsIsACopy(t *testing.T) {
	Fields()[0].Doc = "changed"
	if Fields()[0].Doc == "changed" {
		t.Error("the table was changed")
	}
}
