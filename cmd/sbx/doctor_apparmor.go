package main

import (
	_ "embed"
	"strings"

	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap"
)

// apparmorProfile allows user namespaces to profiledPath. scripts/install.sh
// writes the same text for the path that it installs to.
//
//go:embed apparmor.profile
var apparmorProfile string

const profiledPath = "/usr/local/bin/sbx"

// loadProfile is the command that a host whose AppArmor restricts user namespaces wants.
const loadProfile = "sbx doctor --apparmor | sudo tee /etc/apparmor.d/sbx && sudo apparmor_parser -r /etc/apparmor.d/sbx"

// printProfile is `sbx doctor --apparmor`.
func (c *typed) printProfile() int {
	text, problem := profileFor(sys.SelfPath())
	if problem != nil {
		return c.std.failed(problem)
	}
	c.std.print(text)
	return exitOK
}

// profileFor is the AppArmor profile of a binary. Root loads it: a path that
// the profile's syntax would read as anything else is none.
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

// rungHelp is what would make a rung hold that does not.
func rungHelp(h *wrap.Host, rung wrap.Rung) string {
	user := h.Rungs[wrap.RungUser]
	switch {
	case rung == wrap.RungRoot && h.Container.Name != "":
		return "" // with it there would be no container
	case rung == wrap.RungRoot:
		return "run as root with CAP_SYS_ADMIN"
	case user.State != wrap.No && user.Why != "": // as host.Probe says it of AppArmor
		return "AppArmor here denies user namespaces to programs without a profile; to load one: " + loadProfile
	}
	return h.OpenMore("allow user namespaces: sysctl user.max_user_namespaces and kernel.unprivileged_userns_clone; in a container, a seccomp profile that allows them")
}
