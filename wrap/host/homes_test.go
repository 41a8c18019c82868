package host

import (
	"slices"
	"strings"
	"testing"

	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// atHome creates the homes of a password file for root, each with secrets. The document does
// not name the scene's own directory, unlike in other scenes.
func atHome(t *testing.T) *scene {
	s := newScene(t)
	s.uid = 0
	s.r.Private, s.r.Read = false, nil
	s.r.Home = s.root + "/root"
	s.file("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nann:x:1001:1001::/home/ann:/bin/sh\nbob:x:1002:1002::/srv/homes/bob:/bin/sh\n"+
		"db:x:999:999::/var/lib/db:/x\nwww:x:33:33::/var/www:/x\ntool:x:998:998::/opt/tool:/x\nlink:x:1003:1003::/link:/x\ntwo:x:1004:1004::/root/two:/x\n")
	s.link("home/linked", "link")
	for _, home := range []string{"root", "root/two", "home/ann", "home/ldap", "home/linked", "srv/homes/bob", "var/lib/db", "var/www", "opt/tool"} {
		s.file(home+"/.netrc", "")
		s.file(home+"/.ssh/id", "")
	}
	return s
}

func TestHomesOfOthersAreHiddenWhole(t *testing.T) {
	whole := []string{"home/ann", "home/ldap", "home/linked", "home/me", "srv/homes/bob", "var/lib/db"}
	for name, c := range map[string]struct {
		needs string // the home in which something is needed
		set   func(s *scene, at string)
	}{
		"nothing":           {"", func(*scene, string) {}},
		"the workspace":     {"home/ann", func(s *scene, at string) { s.r.WorkingDir = specPath(at+"/w", "") }},
		"the home itself":   {"home/ann", func(s *scene, at string) { s.r.Home = at }},
		"sudo":              {"home/ann", func(s *scene, _ string) { s.env["SUDO_USER"] = "ann" }},
		"sudo by root":      {"", func(s *scene, _ string) { s.env["SUDO_USER"] = "root" }},
		"PATH":              {"srv/homes/bob", func(s *scene, at string) { s.r.Env = []string{"PATH=/usr/bin:" + at + "/bin"} }},
		"PATH by a link":    {"home/linked", func(s *scene, _ string) { s.r.Env = []string{"PATH=" + s.root + "/link/bin"} }},
		"read":              {"home/ann", func(s *scene, at string) { s.r.Read = []spec.Path{specPath(at+"/x", "filesystem.read[0]")} }},
		"read above":        {"srv/homes/bob", func(s *scene, at string) { s.r.Read = []spec.Path{specPath(s.root+"/srv", "filesystem.read[0]")} }},
		"read the root":     {"", func(s *scene, at string) { s.r.Read = []spec.Path{specPath("/", "filesystem.read[0]")} }},
		"write":             {"var/lib/db", func(s *scene, at string) { s.r.Write = append(s.r.Write, specPath(at+"/x", "filesystem.write[0]")) }},
		"a mount's source":  {"home/ldap", func(s *scene, at string) { s.r.Mounts = []spec.MountAt{{Source: specPath(at, ""), Target: "/in"}} }},
		"a mount's target":  {"home/ldap", func(s *scene, at string) { s.r.Mounts = []spec.MountAt{{Target: at + "/in"}} }},
		"an input":          {"home/ldap", func(s *scene, at string) { s.r.Job = &spec.Job{Input: specPath(at+"/in", "")} }},
		"the program":       {"home/ann", func(s *scene, at string) { s.needs = []string{at + "/bin/x"} }},
		"sbx's own records": {"home/ann", func(s *scene, at string) { s.state = at + "/.local/state/sbx" }},
		"a longer name":     {"", func(s *scene, at string) { s.r.WorkingDir = specPath(s.root+"/home/an", "") }},
	} {
		t.Run(name, func(t *testing.T) {
			s := atHome(t)
			at := s.root + "/" + c.needs
			c.set(s, at)
			p := s.prober()
			p.needs, p.h.State = s.needs, s.state
			p.secrets()
			want := []string{"opt/tool/.netrc", "opt/tool/.ssh", "root/.netrc", "root/.ssh", "root/two/.netrc", "root/two/.ssh", "var/www/.netrc", "var/www/.ssh"}
			for _, home := range whole {
				if home == c.needs {
					want = append(want, home+"/.netrc", home+"/.ssh")
				} else {
					want = append(want, home)
				}
			}
			s.hides(&p.h, want...)
			for _, f := range p.h.Secrets {
				if isHome := slices.Contains(whole, s.rel(f.Path)); f.Home != isHome || isHome && (f.Why != defaults.OtherHome || f.Kind != wrap.Dir) {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// A home that is hidden whole is not searched; a directory with many such homes is listed.
func TestHomesOfOthersAreNotRead(t *testing.T) {
	s := atHome(t)
	p := s.prober()
	var in []string
	for _, home := range p.homes() {
		in = append(in, s.rel(home))
	}
	slices.Sort(in)
	if got := strings.Join(in, " "); got != "opt/tool root root/two var/www" {
		t.Errorf("secrets are looked for in %s", got)
	}
	for i := range wrap.FewHomes - 1 {
		s.dir("home/more" + itoa(i))
	}
	h := s.secrets()
	if !slices.ContainsFunc(h.Listing, func(l wrap.Listing) bool { return s.rel(l.Dir) == "home" && len(l.Entries) == 4+wrap.FewHomes-1 }) {
		t.Errorf("%+v", h.Listing)
	}
}
