package outer

import (
	"strings"
	"testing"
)

// However an argument names a path of the host, an audit does not show it.
func TestAuditLabels(t *testing.T) {
	made, err := made(t, "all", "bwrap", `{"access_mode": "workspace-write"}`, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := made.(*wrapper)
	for arg, want := range map[string]string{
		"/home/u/w/a":                 "<cwd>/a",
		"-I/home/u/w/inc":             "-I<cwd>/inc",
		"-I/data/x":                   "-I<path>",
		"//home/u/x":                  "<home>",
		"//data/x":                    "<path>",
		"file:///home/u/x":            "file:<home>",
		"file:///data/x y":            "file:<path> y",
		"https://example.org/home/x":  "https://example.org/home/x",
		"https://example.org:1/a?b=c": "https://example.org:1/a?b=c",
		"x/home/u/w/a":                "x<cwd>/a",
		"-fprofile-dir=/home/u/k":     "-fprofile-dir=<home>",
		"scp me@h:/home/u/k":          "scp me@h:<home>",
		"s/a/b/":                      "s/a/b/",
		"/usr/bin/env":                "/usr/bin/env",
		"/home/u/wide":                "<home>",
		"a/home/user2/b":              "a/home/user2/b",
	} {
		if got := w.labels.label(arg); got != want {
			t.Errorf("%q is %q, want %q", arg, got, want)
		}
	}
}

// The reasons why a tool does not enforce a field contain no paths of the host either.
func TestAuditNotHeld(t *testing.T) {
	w, err := made(t, "all+", "nsjail", `{"access_mode": "workspace-write"}`, "dir /home/u/w/a:b\nfile /home/u/w/a:b/.envrc\nsocket /home/u/w/s", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, audit, err := w.Wrap(invocation(nil))
	if err != nil {
		t.Fatal(err)
	}
	said := string(audit.AppendJSON(nil))
	if !strings.Contains(said, "<cwd>/s") || strings.Contains(said, "/home/u") {
		t.Error(said)
	}
}
