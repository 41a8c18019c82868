package main

import (
	_ "embed"
	"strings"

	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap"
)

// apparmorProfile allows user namespaces for profiledPath. scripts/install.sh
// writes the same text for the path that it installs to.
//
//go:embed apparmor.profile
var apparmorProfile string

const profiledPath = "/usr/local/bin/sbx"

// loadProfile is the command to type on a host whose AppArmor restricts user namespaces.
const loadProfile = "sbx doctor --apparmor | sudo tee /etc/apparmor.d/sbx && sudo apparmor_parser -r /etc/apparmor.d/sbx"

// printProfile implements `sbx doctor --apparmor`.
func (c *commandLine) printProfile() int {
	text, problem := profileFor(sys.SelfPath())
	if problem != nil {
		return c.std.failed(problem)
	}
	c.std.print(text)
	return exitOK
}

// profileFor returns the AppArmor profile for a binary. Root will load it, so a path with
// characters that have a meaning in a profile is an error.
func profileFor(path string) (string, *spec.Problem) {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._+@~-", r)
	}
	if !strings.HasPrefix(path, "/") || strings.Trim(path, "/") == "" || strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) >= 0 {
		return "", &spec.Problem{On: path, Do: "write an AppArmor profile for this binary",
			Why: "its path has characters other than letters, digits and /._+@~-", Help: "install sbx elsewhere: make install puts it under /usr/local"}
	}
	return strings.ReplaceAll(apparmorProfile, profiledPath, path), nil
}

// rungHelp says how to make a fallback level work that does not.
func rungHelp(h *wrap.Host, rung wrap.Rung) string {
	user := h.Rungs[wrap.RungUser]
	switch {
	case rung == wrap.RungRoot && h.Container.Name != "":
		return "" // in a container the operator chose this
	case rung == wrap.RungRoot:
		return "run as root with CAP_SYS_ADMIN"
	case user.State != wrap.No && user.Why != "": // host.Probe's text about AppArmor
		return "AppArmor here denies user namespaces to programs without a profile; to load one: " + loadProfile
	}
	return h.OpenMore("allow user namespaces: sysctl user.max_user_namespaces and kernel.unprivileged_userns_clone; in a container, a seccomp profile that allows them")
}
