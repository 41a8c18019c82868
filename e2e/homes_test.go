package e2e

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// homesOf returns a host on which root finds homes of others: the password file in a mount
// namespace of the test's own names them.
func homesOf(t *testing.T, n int) (b *box, dir string) {
	needSandbox(t)
	b = elsewhereBox(t)
	dir = b.base + "/homes"
	text := "root:x:0:0:root:" + b.home + ":/bin/sh\n"
	for i := range n {
		home := dir + "/u" + strconv.Itoa(i)
		text += "u" + strconv.Itoa(i) + ":x:" + strconv.Itoa(5000+i) + ":5000::" + home + ":/bin/sh\n"
		b.write(home+"/notes", "notes\n")
		b.write(home+"/.netrc", "netrc\n")
		b.write(home+"/bin/tool", "#!/bin/sh\necho tool\n")
		must(t, os.Chmod(home+"/bin/tool", 0o755))
	}
	b.write(b.base+"/passwd", text)
	b.host = []string{needPrograms(t, "unshare"), "--mount"}
	if !isRoot() {
		b.host = append(b.host, "--user", "--map-current-user", "--keep-caps")
	}
	b.host = append(b.host, "/bin/sh", "-c", `mount --bind "$0" /etc/passwd && exec "$@"`, b.base+"/passwd")
	return b, dir
}

// reads prints what can be read of the homes, and end.
const reads = `cd "$0" 2>/dev/null; for h in u*; do echo $h $(ls -A $h 2>/dev/null) $(cat $h/notes $h/.netrc 2>/dev/null); done; echo end`

// Nothing in another user's home is in view of root's sandbox: a mount covers it or, if there are
// many, a directory without it does.
func TestHomesOfOthers(t *testing.T) {
	for _, n := range []int{2, 9} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			b, dir := homesOf(t, n)
			all, none, named := "", "u*\n", "u1 bin notes notes\n"
			for i := range n {
				all += "u" + strconv.Itoa(i) + " .netrc bin notes notes netrc\n"
			}
			if n == 2 {
				none, named = "u0\nu1\n", "u0\nu1 bin notes notes\n"
			}
			all, none, named = all+"end\n", none+"end\n", named+"end\n"
			if got := b.plain("/bin/sh", "-c", reads, dir).ended().out; got != all {
				t.Fatalf("control: %q", got)
			}
			if !isRoot() { // the homes' own permissions keep this user out, or nothing does
				if got := b.run(specRO, "/bin/sh", "-c", reads, dir).ended().out; got != all {
					t.Errorf("an ordinary user: %q", got)
				}
				return
			}
			for _, c := range []struct{ what, spec, want string }{
				{"hidden", specRO, none},
				{"hidden", specWW, none},
				{"a path in one is named", specWith(specRO, `"filesystem":{"read":["/","`+dir+`/u1/notes"]}`), named},
				{"one is written", specWith(specWW, `"filesystem":{"write":["`+dir+`/u1/bin"]}`), named},
				{"danger-full-access", `{"access_mode":"danger-full-access"}`, all},
			} {
				if got := b.run(c.spec, "/bin/sh", "-c", reads, dir).ended().out; got != c.want {
					t.Errorf("%s: %q, not %q", c.what, got, c.want)
				}
			}
			if r := b.run(specRO, dir+"/u1/bin/tool"); r.out != "tool\n" || r.code != 0 {
				t.Errorf("a program in one does not start: %v", r)
			}
			r := b.run(specRO, "/bin/sh", "-c", dir+"/u1/bin/tool; echo end")
			if r.ended().out != "end\n" {
				t.Errorf("%v", r)
			}
			if r.rec.status("secrets") != "enforced" {
				t.Errorf("%v", r.rec.reason("secrets"))
			}
			told := b.plain(append(b.host, sbxPath, "check", "--spec-json", specRO, "--path", dir+"/u0/notes")...)
			if !strings.Contains(told.out, "the home of another user") {
				t.Errorf("check: %v", told)
			}
		})
	}
}
