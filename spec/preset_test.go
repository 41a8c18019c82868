package spec

import (
	"slices"
	"strings"
	"testing"
)

// Each set says what it is for and what it gives away, and is valid as an item of a list.
func TestPresets(t *testing.T) {
	for i := range presets {
		p := &presets[i]
		if !strings.HasPrefix(p.name, "@") || p.why == "" || p.gives == "" || len(p.places) == 0 {
			t.Errorf("%+v", p)
		}
		if why, _, _ := writeRule(p.name); why != "" {
			t.Error(p.name, why)
		}
		if why, _, _ := readRule(p.name); (why == "") == p.socket {
			t.Error(p.name, why)
		}
	}
}

func TestPresetPaths(t *testing.T) {
	for _, c := range []struct {
		name, home, want string
		environ          []string
	}{
		{"@npm", "/h", "/h/.npm/_cacache /h/.npm/_logs", nil},
		{"@npm", "/h", "/c/_cacache /c/_logs", []string{"npm_config_cache=/c/"}},
		{"@npm", "", "", nil},
		{"@pip", "/h", "/x/pip", []string{"XDG_CACHE_HOME=/x"}},
		{"@pip", "/h", "/p", []string{"XDG_CACHE_HOME=/x", "PIP_CACHE_DIR=/p"}},
		{"@go", "/h", "/a/pkg/mod /a/pkg/sumdb", []string{"GOCACHE=off", "GOPATH=/a:/b"}},
		{"@cargo", "/h", "/h/.cargo/registry /h/.cargo/git", []string{"CARGO_HOME="}},
		{"@maven", "/h", "/h/.m2/repository", nil},
		{"@ssh-agent", "/h", "", nil},
		{"@ssh-agent", "/h", "/run/a", []string{"SSH_AUTH_SOCK=/run/a"}},
		{"@ssh-agent", "/h", "", []string{"SSH_AUTH_SOCK=a"}},
		{"@gpg-agent", "/h", "/h/.gnupg/S.gpg-agent /run/u/gnupg/S.gpg-agent", []string{"XDG_RUNTIME_DIR=/run/u"}},
		{"@docker", "/h", "/var/run/docker.sock", nil},
		{"@docker", "/h", "/d", []string{"DOCKER_HOST=unix:///d"}},
		{"@docker", "/h", "", []string{"DOCKER_HOST=tcp://d:2375"}},
		{"@display", "/h", "/run/u/wayland-0 /tmp/.X11-unix/X1", []string{"XDG_RUNTIME_DIR=/run/u", "WAYLAND_DISPLAY=wayland-0", "DISPLAY=:1.0"}},
		{"@display", "/h", "", []string{"DISPLAY=:1/../../../etc", "WAYLAND_DISPLAY=w"}},
	} {
		in := Inputs{Home: c.home, Environ: c.environ}
		if got := strings.Join(presetOf(c.name).paths(&in), " "); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.name, c.environ, got, c.want)
		}
	}
}

// A variable cannot make a set open a secret, because no cache is a secret.
func TestPresetsOpenNoSecret(t *testing.T) {
	in := Inputs{Home: "/h", Cwd: "/w", Paths: noLinks{}, Lists: Lists{Secret: func(path, home string) bool { return under(path, home+"/.ssh") }}}
	for _, c := range []struct {
		list, set, variable string
		held                bool
	}{
		{"write", "@go", "GOCACHE=/h/cache", true}, {"write", "@go", "GOCACHE=/h/.ssh", false}, {"read", "@go", "GOCACHE=/h/.ssh", false},
		{"write", "@cargo", "CARGO_HOME=/h/.ssh", false}, {"write", "@ccache", "CCACHE_DIR=/h/.ssh/new", false},
	} {
		in.Environ = []string{c.variable}
		s, err := Decode("in", []byte(`{"filesystem": {"`+c.list+`": ["`+c.set+`"]}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Resolve(s, in); (err == nil) != c.held {
			t.Error(c, err)
		}
	}
}

// A nested sandbox gets the paths of a set, whatever its own variables are.
func TestPresetsAreWrittenOut(t *testing.T) {
	s, err := Decode("in", []byte(`{"filesystem": {"read": ["@system", "@pip"], "write": ["@npm", "/o"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Resolve(s, Inputs{Home: "/h", Cwd: "/w", Paths: noLinks{}})
	if err != nil {
		t.Fatal(err)
	}
	doc := r.Document()
	for f, want := range map[Field][]string{"filesystem.read": {"@system", "/h/.cache/pip"}, "filesystem.write": {"/h/.npm/_cacache", "/h/.npm/_logs", "/o"}} {
		var got []string
		for _, item := range lookUp(doc, f).Items {
			got = append(got, item.Text)
		}
		if !slices.Equal(got, want) {
			t.Error(f, got)
		}
	}
}
