package spec

import (
	"strings"
	"testing"
)

func TestResolveCommands(t *testing.T) {
	in := inputs()
	in.Environ = append(in.Environ, "LD_PRELOAD=x", "LD_LIBRARY_PATH=y", "GLIBC_TUNABLES=z", "LDFLAGS=w")
	r, err := Resolve(decodeAt(t, `{"filesystem":{"mounts":[{"label":"m","source":"/srv","target":"/opt/m","mode":"ro"}]},
		"commands":{"allow":["git","./src/","/srv/f","~/.cache/","/opt/m/f"],"deny":["curl","/no/such","src/main.go"]}}`), in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range append(r.Allow, r.Deny...) {
		s := p.Name + "|" + p.Inside + "|" + p.Path.Real
		if p.Path.IsDir {
			s += "/"
		}
		if p.Mapped {
			s += " mapped"
		}
		got = append(got, string(p.Field)+" "+s)
	}
	want := `commands.allow[0] git||
commands.allow[1] |/p/w/src|/p/w/src/
commands.allow[2] |/srv/f|/srv/f
commands.allow[3] |/home/u/.cache|/home/u/.cache/
commands.allow[4] |/opt/m/f|/srv/f mapped
commands.deny[0] curl||
commands.deny[2] |/p/w/src/main.go|/p/w/src/main.go`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if !r.Limited || !r.SideDoors || strings.Join(r.Dropped, " ") != "LD_PRELOAD LD_LIBRARY_PATH" {
		t.Errorf("limited %v, doors %v, dropped %q", r.Limited, r.SideDoors, r.Dropped)
	}
	notes := ""
	for _, n := range r.Notes {
		notes += string(n.Field) + ": " + n.Text + "\n"
	}
	if !strings.Contains(notes, "commands.deny: /no/such is not there") || !strings.Contains(notes, "commands.allow: LD_PRELOAD is kept") {
		t.Errorf("notes:\n%s", notes)
	}
}

func TestCommandsThatConstrainNothing(t *testing.T) {
	for doc, limited := range map[string]bool{`{}`: false, `{"commands":{}}`: false, `{"commands":{"deny":[]}}`: false, `{"commands":{"allow":[]}}`: true} {
		r, err := Resolve(decodeAt(t, doc), inputs())
		if err != nil || r.Limited != limited || r.SideDoors != limited {
			t.Errorf("%s: limited %v, doors %v, %v", doc, r.Limited, r.SideDoors, err)
		}
	}
}

func TestCommandsThatCannotBe(t *testing.T) {
	for doc, word := range map[string]string{
		`{"commands":{"allow":["./none"]}}`:                                       "does not exist",
		`{"commands":{"allow":["./none/"]}}`:                                      "does not exist",
		`{"commands":{"allow":["src/main.go/"]}}`:                                 "not a directory",
		`{"commands":{"deny":["./src"]}}`:                                         "is a directory",
		`{"commands":{"allow":["git"]},"environment":{"set":{"LD_AUDIT":"x"}}}`:   "LD_*",
		`{"commands":{"allow":["git"]},"environment":{"set":{"LD_PRELOAD":"x"}}}`: "LD_PRELOAD",
	} {
		if _, err := Resolve(decodeAt(t, doc), inputs()); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want %q", doc, err, word)
		}
	}
}
