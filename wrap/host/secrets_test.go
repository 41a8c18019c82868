package host

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

func hidden(h *wrap.Host, path string) *wrap.Found {
	for i := range h.Secrets {
		if h.Secrets[i].Path == path {
			return &h.Secrets[i]
		}
	}
	return nil
}

// hides demands that exactly these are hidden, under the scene's root.
func (s *scene) hides(h *wrap.Host, want ...string) {
	s.t.Helper()
	var got []string
	for _, f := range h.Secrets {
		got = append(got, s.rel(f.Path))
		if f.Why == "" {
			s.t.Errorf("%s has no reason", f.Path)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.t.Errorf("hidden are\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSecretsOfAHome(t *testing.T) {
	s := newScene(t)
	for _, f := range []string{".ssh/id", ".netrc", ".config/gh/hosts.yml", ".config/fish/config.fish", ".claude/x", ".cargo/bin/x",
		".cargo/credentials.toml", ".local/share/keyrings/x", ".local/state/sbx/runs/x", ".xauthAbC", "notes", ".gitconfig"} {
		s.file("home/me/"+f, "")
	}
	s.hides(s.secrets(), "home/me/.ssh", "home/me/.netrc", "home/me/.config/gh", "home/me/.cargo/credentials.toml",
		"home/me/.local/share/keyrings", "home/me/.local/state/sbx", "home/me/.xauthAbC")
}

// Each row of the table is found where its path is made, and nothing else is.
func TestEveryRowIsFound(t *testing.T) {
	s := newScene(t)
	s.uid = 0
	s.file("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\n")
	s.r.Home = ""
	var want []string
	for _, row := range defaults.Secrets() {
		path := strings.ReplaceAll(row.Path, "*", "0")
		path, home := strings.CutPrefix(path, "~/")
		if home {
			path = "home/me/" + path
		}
		path = strings.TrimPrefix(path, "/")
		if row.File {
			s.file(path, "")
		} else {
			s.dir(path)
		}
		want = append(want, path)
	}
	s.hides(s.secrets(), want...)
}

func TestEveryRowOfSystemIsFound(t *testing.T) {
	s := newScene(t)
	var want []string
	for _, row := range defaults.System() {
		path := strings.TrimPrefix(strings.ReplaceAll(row.Path, "*", "0"), "/")
		s.dir(path)
		want = append(want, path)
	}
	s.link("usr/lib", "lib64x")
	s.file("etc/shadow", "")
	p := s.prober()
	(&systemSearch{p.prober}).system()
	var got []string
	for _, f := range p.h.System {
		got = append(got, s.rel(f.Path))
	}
	if !slices.Equal(got, want) {
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}

func TestSystemLinks(t *testing.T) {
	s := newScene(t)
	s.dir("usr/bin")
	s.link("usr/bin", "bin")
	s.file("run/x/resolv.conf", "")
	s.link("../run/x/resolv.conf", "etc/resolv.conf")
	p := s.prober()
	(&systemSearch{p.prober}).system()
	i := slices.IndexFunc(p.h.System, func(f wrap.Found) bool { return s.rel(f.Path) == "bin" })
	if i < 0 || p.h.System[i].Target != "usr/bin" || s.rel(p.h.System[i].Real) != "usr/bin" || p.h.System[i].Kind != wrap.Dir {
		t.Errorf("%+v", p.h.System)
	}
	i = slices.IndexFunc(p.h.System, func(f wrap.Found) bool { return s.rel(f.Path) == "etc/resolv.conf" })
	if i < 0 || s.rel(p.h.System[i].Real) != "run/x/resolv.conf" || p.h.System[i].Kind != wrap.File {
		t.Errorf("%+v", p.h.System)
	}
}

func TestSecretsAsRoot(t *testing.T) {
	s := newScene(t)
	s.uid = 0
	s.file("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nbin:x:2:2::/bin:/x\ndb:x:9:9::/var/lib/db:/x\nbad line\nno:x:3:3::/nonexistent:/x\n")
	for _, f := range []string{"root/.ssh/id", "var/lib/db/.psql_history", "home/ldap/.netrc", "home/me/.npmrc", "bin/.ssh/x",
		"etc/shadow", "etc/ssh/ssh_host_rsa_key", "etc/ssh/ssh_host_rsa_key.pub", "etc/ssh/ssh_config", "etc/ssl/private/k", "var/lib/docker/x"} {
		s.file(f, "")
	}
	s.hides(s.secrets(), "root/.ssh", "var/lib/db/.psql_history", "home/ldap/.netrc", "home/me/.npmrc", "etc/shadow",
		"etc/ssh/ssh_host_rsa_key", "etc/ssl/private", "var/lib/docker")
	s.uid = 1000
	s.hides(s.secrets(), "home/me/.npmrc")
}

func TestTooManyHomesAreTold(t *testing.T) {
	s := newScene(t)
	s.uid = 0
	for i := range maxHomes + 2 {
		s.dir("home/u" + itoa(i))
	}
	if h := s.secrets(); h.SecretsCut == "" {
		t.Error("homes were left out in silence")
	}
}

func TestWhatTheSpecNamesIsOpen(t *testing.T) {
	s := newScene(t)
	s.file("home/me/.ssh/id", "")
	s.file("home/me/.netrc", "")
	s.file("home/me/.aws/config", "")
	s.r.Read = append(s.r.Read, specPath(s.home, "filesystem.read[0]"), specPath(s.home+"/.netrc", "filesystem.read[1]"),
		specPath(s.home+"/.aws/config", "filesystem.read[2]"))
	// The home as a whole opens nothing; a path under leaves the directory to Build.
	s.hides(s.secrets(), "home/me/.ssh", "home/me/.aws")
	s.r.Write = append(s.r.Write, specPath(s.home+"/.ssh", "filesystem.write[0]"))
	s.hides(s.secrets(), "home/me/.aws")
	// Being started in a secret directory does not open it.
	s.r.Write = []spec.Path{specPath(s.home+"/.ssh", "")}
	s.r.Read = []spec.Path{specPath(s.root, ""), specPath(s.home+"/.aws", ""), specPath(s.home+"/.netrc", "filesystem.read[0]")}
	s.hides(s.secrets(), "home/me/.ssh", "home/me/.aws")
}

func TestSecretsThatAreLinks(t *testing.T) {
	s := newScene(t)
	s.file("home/me/dot/npmrc", "")
	s.link("dot/npmrc", "home/me/.npmrc")
	s.dir("home/me/dot/cfg/gh")
	s.link("dot/cfg", "home/me/.config")
	s.link("/", "home/me/.aws")
	s.link("/no/where", "home/me/.kube")
	s.link("../me", "home/me/.docker")
	h := s.secrets()
	s.hides(h, "home/me/.npmrc", "home/me/dot/npmrc", "home/me/dot/cfg/gh", "home/me/.aws", "home/me/.kube", "home/me/.docker")
	if f := hidden(h, s.home+"/.npmrc"); f == nil || f.Target != "dot/npmrc" || f.Real != s.home+"/dot/npmrc" || f.Kind != wrap.File {
		t.Errorf("%+v", f)
	}
	if f := hidden(h, s.home+"/.kube"); f == nil || f.Kind != wrap.Absent || f.Target != "/no/where" {
		t.Errorf("%+v", f)
	}
	// Hiding the root or the home would hide everything.
	for _, name := range []string{"/.aws", "/.docker"} {
		if f := hidden(h, s.home+name); f == nil || f.Real != f.Path || f.Kind != wrap.Other {
			t.Errorf("%+v", f)
		}
	}
	s.r.Read = append(s.r.Read, spec.Path{Abs: s.home + "/.npmrc", Real: s.home + "/dot/npmrc", Exists: true, Field: "filesystem.read[0]"})
	if h := s.secrets(); hidden(h, s.home+"/.npmrc") != nil || hidden(h, s.home+"/dot/npmrc") != nil {
		t.Error("a link that the spec names stays hidden")
	}
}

func TestHomeBehindALink(t *testing.T) {
	s := newScene(t)
	s.file("data/me/.netrc", "")
	s.link("../data/me", "home/you")
	s.r.Home = s.root + "/home/you"
	s.hides(s.secrets(), "data/me/.netrc")
}

func TestMovedSecrets(t *testing.T) {
	s := newScene(t)
	s.file("cfg/gh/hosts.yml", "")
	s.file("state/sbx/x", "")
	s.file("keys/kube1", "")
	s.file("keys/kube2", "")
	s.file("cargo/credentials.toml", "")
	s.env = map[string]string{
		"XDG_CONFIG_HOME": s.root + "/cfg", "XDG_STATE_HOME": s.root + "/state/", "KUBECONFIG": s.root + "/keys/kube1:" + s.root + "/keys/kube2:",
		"CARGO_HOME": s.root + "/cargo", "DOCKER_CONFIG": s.root, "HISTFILE": "/dev/null", "NETRC": "relative", "GNUPGHOME": "/",
	}
	s.hides(s.secrets(), "cfg/gh", "state/sbx", "keys/kube1", "keys/kube2", "cargo/credentials.toml")
}

func TestSocketVariables(t *testing.T) {
	s := newScene(t)
	listen := func(rel string) string {
		path := s.root + "/" + rel
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return path
	}
	ssh, bus, docker := listen("ssh"), listen("a bus"), listen("docker")
	s.env = map[string]string{
		"SSH_AUTH_SOCK": ssh, "DBUS_SESSION_BUS_ADDRESS": "unix:abstract=x;unix:guid=1,path=" + strings.ReplaceAll(bus, " ", "%20"),
		"DOCKER_HOST": "unix://" + docker, "GPG_AGENT_INFO": s.root + "/none:1:1", "CONTAINER_HOST": "ssh://x",
	}
	s.r.Env = []string{"DOCKER_HOST=unix:///elsewhere", "SSH_AUTH_SOCK=" + ssh}
	h := s.secrets()
	s.hides(h, "ssh", "a bus", "docker")
	slices.Sort(h.DropEnv)
	if want := []string{"DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK"}; !slices.Equal(h.DropEnv, want) {
		t.Errorf("%q", h.DropEnv)
	}
	s.r.Read = append(s.r.Read, specPath(ssh, "filesystem.read[0]"))
	if h := s.secrets(); hidden(h, ssh) != nil || slices.Contains(h.DropEnv, "SSH_AUTH_SOCK") {
		t.Errorf("what the spec names stays hidden: %q", h.DropEnv)
	}
	// In a private directory the socket is already invisible, but the variable is still removed.
	s.r.Read = nil
	if strings.HasPrefix(s.root, "/tmp/") {
		if h := s.secrets(); len(h.Secrets) != 0 || !slices.Contains(h.DropEnv, "SSH_AUTH_SOCK") {
			t.Errorf("%+v %q", h.Secrets, h.DropEnv)
		}
	}
}

func TestListings(t *testing.T) {
	s := newScene(t)
	s.file("home/me/.netrc", "")
	s.file("home/me/z", "")
	s.dir("home/me/a")
	s.link("a", "home/me/m")
	s.file("home/me/.config/gh/x", "")
	h := s.secrets()
	if len(h.Listing) != 1 {
		t.Fatalf("%+v", h.Listing)
	}
	l := h.Listing[0]
	want := []wrap.Entry{{Name: ".config", Kind: wrap.Dir}, {Name: ".netrc", Kind: wrap.File}, {Name: "a", Kind: wrap.Dir},
		{Name: "m", Kind: wrap.Symlink, Target: "a"}, {Name: "z", Kind: wrap.File}}
	if l.Dir != s.home || l.Mode != 0o755 || l.Cut || !slices.Equal(l.Entries, want) {
		t.Errorf("%+v", l)
	}
}

// A long home is read to its end, and a directory that may only be passed through
// is asked name by name.
func TestLongAndClosedHomes(t *testing.T) {
	s := newScene(t)
	for i := range 900 {
		s.file("home/me/"+strings.Repeat("long-", 8)+itoa(i), "")
	}
	s.file("home/me/.netrc", "")
	s.file("home/me/.ssh/x", "")
	h := s.secrets()
	s.hides(h, "home/me/.netrc", "home/me/.ssh")
	if len(h.Listing) != 0 {
		t.Error("a large directory is listed although an overlay may do")
	}
	if Listings(h); len(h.Listing) != 0 {
		t.Error("a large directory is listed although an overlay may do")
	}
	h.Overlay.State = wrap.No
	if Listings(h); len(h.Listing) != 1 || len(h.Listing[0].Entries) != 902 {
		t.Errorf("%d listings", len(h.Listing))
	}
	if err := os.Chmod(s.home, 0o100); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(s.home, 0o700) })
	s.hides(s.secrets(), "home/me/.netrc", "home/me/.ssh")
}
