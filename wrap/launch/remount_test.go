package launch

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// Which mounts of a tree lack a flag, deepest first.
func TestLacking(t *testing.T) {
	const head = "20 1 0:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
	for _, row := range []struct {
		name  string
		lines string
		top   int
		one   bool // none under
		want  string
	}{
		{"one", "", 20, false, "/"},
		{"nested", "21 20 0:2 / /a rw - tmpfs none rw\n22 21 0:3 / /a/b rw,nosuid - tmpfs none rw", 20, false, "/a/b /a /"},
		{"a part", "21 20 0:2 / /a rw - tmpfs none rw\n22 21 0:3 / /a/b rw - tmpfs none rw\n23 20 0:3 / /c rw - tmpfs none rw", 21, false, "/a/b /a"},
		{"one of it", "21 20 0:2 / /a rw - tmpfs none rw\n22 21 0:3 / /a/b rw - tmpfs none rw", 21, true, "/a"},
		{"with the flags", "21 20 0:2 / /a ro,nosuid,nodev,noexec - tmpfs none rw\n22 21 0:3 / /a/b ro,nodev - tmpfs none rw", 20, false, "/a/b /"},
		{"read-only by the file system alone", "21 20 0:2 / /a rw,nosuid,nodev - ext4 none ro", 21, false, "/a"},
		{"before its parent", "22 21 0:3 / /a/b rw - tmpfs none rw\n21 20 0:2 / /a rw - tmpfs none rw", 20, false, "/a/b /a /"},
		{"on one's very root", "21 20 0:2 / /a rw - tmpfs none rw\n22 21 0:3 / /a/b rw - tmpfs none rw\n23 21 0:4 / /a rw - tmpfs none rw\n24 23 0:5 / /a/c rw - tmpfs none rw", 20, false, "/a/c /a /"},
		{"on the top itself", "21 20 0:2 / / rw - tmpfs none rw\n22 20 0:3 / /b rw - tmpfs none rw", 20, false, "/b / /"},
		{"in a directory that is mounted over", "21 20 0:2 / /a/b rw - tmpfs none rw\n22 20 0:3 / /a rw - tmpfs none rw", 20, false, "/a /a/b /"},
		{"with odd names", `21 20 0:2 / /a\040b\134 rw - tmpfs none rw`, 21, false, `/a b\`},
		{"not there", "", 7, false, "nothing"},
		{"broken lines", "x\n21 20\n22 twenty 0:2 / /a rw - tmpfs none rw\n21 20 0:2 / /b rw - tmpfs none rw", 20, false, "/b /"},
	} {
		list, found := mountsLacking(read.Mounts(head+row.lines), row.top, unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, !row.one)
		var got []string
		for _, m := range list {
			got = append(got, m.Path)
		}
		if !found {
			got = []string{"nothing"}
		}
		if s := strings.Join(got, " "); s != row.want {
			t.Errorf("%s: %q, want %q", row.name, s, row.want)
		}
	}
}

// A mount keeps its flags: the call would clear those that it does not name.
func TestRemountKeepsFlags(t *testing.T) {
	all := read.Mounts("20 1 0:1 / / ro,nosuid,noexec,nosymfollow,noatime,nodiratime - ext4 /dev/root rw\n")
	if len(all) != 1 || flagsOf(&all[0]) != unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NOEXEC|unix.MS_NOSYMFOLLOW {
		t.Fatalf("%+v", all)
	}
	s := remountStep("7", flagsOf(&all[0])|unix.MS_NODEV)
	want := uintptr(unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOSYMFOLLOW)
	if s.Args[1].Text != "7" || s.Args[3].Num != want {
		t.Errorf("%v", s)
	}
}
