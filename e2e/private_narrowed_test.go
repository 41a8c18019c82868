package e2e

import (
	"os"
	"strings"
	"testing"
)

// A directory that is private and empty in a sandbox is not opened by a document that narrows it:
// neither by name, nor as the source of a mount, nor from above.
func TestNarrowedPrivateDirsStay(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	if !b.private() {
		t.Skip("temporary files lie where nothing is private")
	}
	b.write("out/file", "beside")
	top := "/" + strings.SplitN(b.base, "/", 3)[1]
	mount := func(source string) string {
		return `{"filesystem": {"mounts": [{"label": "l", "source": "` + source + `", "target": "/opt/new", "mode": "ro"}]}}`
	}
	for name, child := range map[string]string{
		"read":  `{"filesystem": {"read": ["@system", "` + b.ws + `", "` + b.out + `"]}}`,
		"top":   `{"filesystem": {"read": ["@system", "` + top + `"]}}`, // itself private
		"mount": mount(b.out), "mount of the top": mount(top), "mount of all": mount("/"),
	} {
		b.args = []string{"--spec-json", `{"access_mode": "workspace-write"}`, "--spec-json", child}
		if r := b.run("", "/bin/sh", "-c", "cat "+b.out+"/file; echo end"); r.code != 125 || !strings.Contains(r.err, "the parent has") {
			t.Errorf("%s: %v", name, r)
		}
	}
	// A path there that the parent itself names is the host's.
	b.args = []string{"--spec-json", `{"access_mode": "workspace-write", "filesystem": {"write": ["` + b.out + `"]}}`, "--spec-json", `{"filesystem": {"read": ["@system", "` + b.ws + `", "` + b.out + `"]}}`}
	if r := b.run("", "/bin/sh", "-c", "cat "+b.out+"/file; echo; echo end").ended(); !strings.Contains(r.out, "beside") {
		t.Errorf("%v", r)
	}
}

// A directory that a document mounts read-only on itself cannot be written under one that narrows
// it, by whatever name that mounts it again.
func TestNarrowedReadOnlyMountsStay(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.write("ws/kept/f", "")
	script := "touch " + b.ws + "/kept/new 2>/dev/null || touch /opt/new/new; echo end"
	for _, mode := range []string{"", `"access_mode": "workspace-write", `} {
		mount := func(from, at, how string) string {
			return `{` + mode + `"filesystem": {"mounts": [{"label": "l", "source": "` + b.ws + from + `", "target": "` + at + `", "mode": "` + how + `"}]}}`
		}
		parent := mount("/kept", b.ws+"/kept", "ro")
		b.args = []string{"--spec-json", mount("/kept", b.ws+"/kept", "rw")}
		b.run("", "/bin/sh", "-c", script).ended()
		b.holds("ws/kept/new", "")
		must(t, os.Remove(b.ws+"/kept/new"))
		b.args = []string{"--spec-json", parent}
		b.run("", "/bin/sh", "-c", script).ended()
		for _, child := range []string{mount("/kept", b.ws+"/kept", "rw"), mount("/kept", "/opt/new", "rw"), mount("/", b.ws, "rw")} {
			b.args = []string{"--spec-json", parent, "--spec-json", child}
			if r := b.run("", "/bin/sh", "-c", script); child != mount("/", b.ws, "rw") && (r.code != 125 || !strings.Contains(r.err, "filesystem.mounts[0]")) {
				t.Errorf("%s: %v", child, r)
			}
		}
		b.absent("ws/kept/new")
	}
}

// A path that a document covers in a mounted directory cannot be shown elsewhere by a mount of a
// narrowing document.
func TestNarrowedCoversStay(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.write("out/kept/f", "covered")
	mount := func(at string) string {
		return `{"label": "l", "source": "` + b.out + `", "target": "` + at + `", "mode": "ro"}`
	}
	doc := func(mounts string) string {
		return `{"filesystem": {"read": ["@system", "` + b.ws + `"], "mounts": [` + mounts + `]}}`
	}
	cover := doc(mount("/opt/new") + `, {"label": "c", "target": "/opt/new/kept", "mode": "tmpfs"}`)
	cat := func(at string) result { return b.run("", "/bin/sh", "-c", "cat "+at+"/kept/f; echo; echo end") }
	for _, child := range []string{"", doc(mount("/opt/other"))} {
		b.args = []string{"--spec-json", doc(mount("/opt/new"))}
		at := "/opt/new"
		if child != "" {
			b.args, at = append(b.args, "--spec-json", child), "/opt/other"
		}
		if r := cat(at).ended(); !strings.Contains(r.out, "covered") {
			t.Errorf("control: %v", r)
		}
		b.args[1] = cover
		if r := cat(at); strings.Contains(r.out, "covered") || child != "" && r.code != 125 {
			t.Errorf("%s: %v", child, r)
		}
	}
}

// A document that names /run shows the host's, without files of sbx's.
func TestTheHostsRunIsShown(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	r := b.sh(`{"filesystem": {"read": ["@system", "/run", "`+b.ws+`"]}}`, "ls -d /run /run/sbx 2>/dev/null").ended()
	if !strings.HasPrefix(r.out, "/run\nend") {
		t.Errorf("%v", r)
	}
}
