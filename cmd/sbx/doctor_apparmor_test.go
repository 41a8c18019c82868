package main

import (
	"strings"
	"testing"

	"sbx/wrap"
)

func TestTheProfileIsForOnePlainPath(t *testing.T) {
	text, problem := profileFor("/home/u/.local/bin/sbx")
	if problem != nil || !strings.Contains(text, "\nprofile sbx /home/u/.local/bin/sbx flags=(unconfined) {\n  userns,\n") || strings.Contains(text, profiledPath) {
		t.Errorf("%v\n%s", problem, text)
	}
	if text, _ := profileFor(profiledPath); text != apparmorProfile {
		t.Errorf("the profile as it is in the repository has another path:\n%s", text)
	}
	for _, path := range []string{"", "/", "sbx", "/tmp/a b/sbx", "/tmp/*/sbx", "/tmp/@{HOME}/sbx", "/tmp/{a,b}/sbx", "/tmp/\"/sbx", "/tmp/x\nprofile y /** {/sbx", "/tmp/é/sbx"} {
		if text, problem := profileFor(path); problem == nil {
			t.Errorf("%q got a profile:\n%s", path, text)
		}
	}
}

func TestTheProfileIsOfferedWhereAppArmorRestricts(t *testing.T) {
	restricted := wrap.Host{}
	restricted.Rungs[wrap.RungUser].Why = "AppArmor restricts user namespaces: kernel.apparmor_restrict_unprivileged_userns is 1"
	off := wrap.Host{}
	off.Rungs[wrap.RungUser] = wrap.Answer{State: wrap.No, Why: "user namespaces are switched off: user.max_user_namespaces is 0"}
	for name, c := range map[string]struct {
		host    wrap.Host
		rung    wrap.Rung
		offered bool
	}{
		"restricted":          {restricted, wrap.RungUser, true},
		"restricted, as root": {restricted, wrap.RungRoot, false},
		"switched off":        {off, wrap.RungUser, false},
		"unknown":             {wrap.Host{}, wrap.RungUser, false},
	} {
		if help := rungHelp(&c.host, c.rung); strings.Contains(help, loadProfile) != c.offered || help == "" {
			t.Errorf("%s: %q", name, help)
		}
	}
}
