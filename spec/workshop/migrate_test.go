package workshop

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/old-style.migrated anew")

func TestMigrate(t *testing.T) {
	for _, c := range []struct{ what, text, want string }{
		{"one path", "---\nname: a\nsandbox:\n  paths:\n    in: {root: ./in, mode: ro}\ntools: Read\n---\ntext\n",
			"---\nname: a\n# In the old style it was:\n#   sandbox:\n#     paths:\n#       in: {root: ./in, mode: ro}\nsandbox:\n  restrict: \"/in\"\n  readonly: true\ntools: Read\n---\ntext\n"},
		{"all of it", "---\nsandbox: {paths: {all: {root: ., mode: rw}}} # all\n---\n",
			"---\n# In the old style it was:\n#   sandbox: {paths: {all: {root: ., mode: rw}}} # all\nsandbox: {}\n---\n"},
		{"lines as Windows ends them", "---\r\nsandbox:\r\n  paths:\r\n    a: {root: a/b}\r\n\r\n    b: {root: a/c/}\r\n\r\n# end\r\n---\r\nx",
			"---\r\n# paths.a, a/b (ro), becomes wider: one directory is opened, /a (ro)\r\n# paths.b, a/c/ (ro), becomes wider: one directory is opened, /a (ro)\r\n# In the old style it was:\r\n#   sandbox:\r\n#     paths:\r\n#       a: {root: a/b}\r\n#\r\n#       b: {root: a/c/}\r\nsandbox:\r\n  restrict: \"/a\"\r\n  readonly: true\r\n\r\n# end\r\n---\r\nx"},
		{"a path elsewhere", "---\nsandbox:\n  paths:\n    a: {root: a, mode: rw}\n    b: {root: /srv}\n---\n",
			"---\n# paths.b, /srv (ro), is left out: it does not lie in the workshop\n# In the old style it was:\n#   sandbox:\n#     paths:\n#       a: {root: a, mode: rw}\n#       b: {root: /srv}\nsandbox:\n  restrict: \"/a\"\n---\n"},
		{"indented, and no YAML", "---\n  description: a: b\n  sandbox:\n    paths: {a: {\n      root: a}\n  }\n  name: a\n---\n",
			"---\n  description: a: b\n  # In the old style it was:\n  #   sandbox:\n  #     paths: {a: {\n  #       root: a}\n  #   }\n  sandbox:\n    restrict: \"/a\"\n    readonly: true\n  name: a\n---\n"},
	} {
		got, _, err := Migrate("o.worker", []byte(c.text))
		if err != nil || got != c.want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", c.what, err, got, c.want)
		}
		again, warns, err := Migrate("o.worker", []byte(got))
		if err != nil || again != got || len(warns) != 1 || warns[0].Text != "it is in the new style already" {
			t.Errorf("%s: migrated again: %v, %v", c.what, err, warns)
		}
	}
}

// The example is what the guide shows.
func TestMigrateExample(t *testing.T) {
	got, warns, err := Migrate("old-style.worker", read(t, workshop+"workers/old-style.worker"))
	if err != nil || len(warns) != 5 {
		t.Fatal(err, warns)
	}
	const golden = "testdata/old-style.migrated"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(read(t, golden)); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestMigrateRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"---\n{name: a, sandbox: {paths: {a: {root: a}}}}\n---\n", "o.worker:2:11: sandbox: it does not begin a line"},
		{"---\nsandbox: {paths: {a: {root: /a}, b: {root: ../b}}}\n---\n", "o.worker:2:10: sandbox.paths: none of its paths lies in the workshop"},
		{"---\nsandbox: {paths: {}}\n---\n", "o.worker:2:10: sandbox.paths: none of its paths lies in the workshop"},
		{"---\nsandbox: {pathes: {}}\n---\n", "o.worker:2:11: sandbox.pathes: unknown field"},
	} {
		if _, _, err := Migrate("o.worker", []byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// What comes out is in the new style, and the rest of the file is in it.
func FuzzMigrate(f *testing.F) {
	f.Add(read(f, workshop+"workers/old-style.worker"))
	f.Add([]byte("---\r\na: b: c\r\nsandbox: {paths: {a: {root: ./a/b, mode: rw},\r\n b: {root: a}}}\r\n#\r\nname: x\r\n---\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		out, _, err := Migrate("in", b)
		if !decodesOrSays(t, b, err) {
			return
		}
		before, err := DecodeWorker("in", b)
		if err != nil {
			t.Fatal(err)
		}
		after, err := DecodeWorker("in", []byte(out))
		if err != nil || after.Old != nil || after.Name != before.Name || after.Tools.Set != before.Tools.Set {
			t.Fatalf("%q: %v, got %q", b, err, out)
		}
	})
}
