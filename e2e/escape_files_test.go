package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// escape is an attempt, and its results outside and inside.
type escape struct {
	attempt         string
	outside, inside string // errnos, or ok; several are separated by a space
}

func oneOf(got, want string) bool {
	for _, w := range strings.Fields(want) {
		if got == w || w == "read:" && strings.HasPrefix(got, w) {
			return true
		}
	}
	return false
}

// hold runs the attempts outside and under each spec, and compares the results. reset, if given,
// undoes the changes of a control.
func hold(t *testing.T, b *box, specs []string, reset func(), rows []escape) {
	t.Helper()
	var names []string
	for _, r := range rows {
		names = append(names, r.attempt)
	}
	if reset != nil {
		reset()
	}
	control := b.control(names...)
	for _, r := range rows {
		if !oneOf(control[r.attempt], r.outside) {
			t.Errorf("control: %s: %q outside, want %s", r.attempt, control[r.attempt], r.outside)
		}
	}
	for _, spec := range specs {
		if reset != nil {
			reset()
		}
		inside := b.tries(spec, names...)
		for _, r := range rows {
			if !oneOf(inside[r.attempt], r.inside) {
				t.Errorf("%s: %s: %q inside, want %s", spec, r.attempt, inside[r.attempt], r.inside)
			}
		}
	}
}

// inView returns a spec that shows the outside read-only even under /tmp.
func (b *box) inView(mode string) string {
	if !b.private() {
		return `{"access_mode":"` + mode + `"}`
	}
	mount := func(dir string) string {
		return fmt.Sprintf(`{"label":"m%d","source":%q,"target":%q,"mode":"ro"}`, len(dir), dir, dir)
	}
	list := mount(b.out)
	if mode == "read-only" { // the workspace holds the probe
		list += "," + mount(b.ws)
	}
	return `{"access_mode":"` + mode + `","filesystem":{"mounts":[` + list + `]}}`
}

func TestFilesOutsideStayAsTheyAre(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		f, d := b.out+"/file", b.out+"/dir"
		reset := func() {
			os.RemoveAll(b.out)
			b.write(f, "kept\n")
			b.write(b.out+"/other", "other\n")
			b.write(b.out+"/gone", "gone\n")
			must(t, os.Mkdir(d, 0o755))
			for _, n := range []string{"in", "in2"} {
				os.Remove(b.ws + "/" + n)
			}
			b.write(b.ws+"/in", "in\n")
		}
		rows := []escape{
			{"write|" + f, "ok", "EROFS"},
			{"append|" + f, "ok", "EROFS"},
			{"create|" + b.out + "/new", "ok", "EROFS"},
			{"mkdir|" + b.out + "/newdir", "ok", "EROFS"},
			{"symlink|x|" + b.out + "/newlink", "ok", "EROFS"},
			{"mkfifo|" + b.out + "/newfifo", "ok", "EROFS"},
			{"rename|" + b.out + "/gone|" + b.out + "/gone2", "ok", "EROFS"},
			{"exchange|" + f + "|" + b.out + "/other", "ok", "EROFS"},
			{"link|" + f + "|" + b.out + "/linked", "ok", "EROFS"},
			{"link|" + f + "|" + b.ws + "/in2", "ok", "EXDEV EROFS"},
			{"rename|" + b.ws + "/in|" + b.out + "/in", "ok", "EXDEV EROFS"},
			{"chmod|" + f, "ok", "EROFS"},
			{"chmod|" + d, "ok", "EROFS"},
			{"chown|" + f, "ok", "EROFS"},
			{"utimes|" + f, "ok", "EROFS"},
			{"setxattr|" + f, "ok", "EROFS"},
			{"truncate|" + f, "ok", "EROFS"},
			{"access|" + b.out + "/other", "ok", "EROFS"},
			{"lease|" + b.out + "/other", "ok", "EPERM"},
			{"unlink|" + b.out + "/other", "ok", "EROFS"},
			{"rmdir|" + d, "ok", "EROFS"},
		}
		b.probe()
		hold(t, b, []string{b.inView("read-only"), b.inView("workspace-write")}, reset, rows)
		b.holds(f, "kept\n")
		b.holds(b.out+"/other", "other\n")
		for _, n := range []string{"new", "newdir", "newlink", "newfifo", "gone2", "linked", "in"} {
			b.absent(b.out + "/" + n)
		}
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("the file's mode: %v %v", info, err)
		}
	})
}

// Under a private directory the outside does not even exist.
func TestFilesOfPrivateDirsAreAbsent(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	if !b.private() {
		t.Skip("TMPDIR is no private directory")
	}
	f := b.write(b.out+"/file", "kept\n")
	hold(t, b, []string{specWW}, func() { os.Remove(b.out + "/new") }, []escape{
		{"read|" + f, "read:", "ENOENT"},
		{"write|" + f, "ok", "ENOENT"},
		{"create|" + b.out + "/new", "ok", "ENOENT"},
		{"stat|" + b.rec, "ENOENT", "ENOENT"},
	})
	b.holds(f, "kept\n")
	b.absent(b.out + "/new")
}

// No descriptor of the command, of pid 1 or of its parent leads out.
func TestNoDescriptorLeadsOut(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		secret := b.write(b.home+"/.netrc", "SECRET")
		b.write(b.out+"/file", "OUTSIDE")
		for _, spec := range []string{b.inView("read-only"), specWW} {
			got := b.tries(spec, "fdescape|"+secret, "upwards|0|"+strings.TrimPrefix(secret, "/"))
			for a, word := range got {
				if strings.Contains(word, "SECRET") || word == "ok" {
					t.Errorf("%s: %s: %s", spec, a, word)
				}
			}
		}
		control := b.plain(probePath, "with", "dir=0:/", "--", b.probe(), "try", "fdescape|"+secret, "upwards|0|"+strings.TrimPrefix(secret, "/")).ended().lines()
		if !strings.Contains(control["fdescape|"+secret], "SECRET") || control["upwards|0|"+strings.TrimPrefix(secret, "/")] != "ok" {
			t.Errorf("control: %v", control)
		}
	})
}

// A directory that the host swaps while the command enters and leaves it is no way out.
func TestChdirRace(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	secret := b.write(b.home+"/.ssh/id", "SECRET")
	must(t, os.Mkdir(b.ws+"/d", 0o755))
	must(t, os.Symlink(b.home+"/.ssh", b.ws+"/l"))
	s := b.start(specWW, "/bin/sh", "-c", `
		i=0
		while [ $i -lt 300 ]; do
			cd `+b.ws+`/d 2>/dev/null && cat id 2>/dev/null
			cat ../../home/.ssh/id `+secret+` 2>/dev/null
			i=$((i+1))
		done
		echo end`)
	for over := false; !over; {
		unix.Renameat2(unix.AT_FDCWD, b.ws+"/d", unix.AT_FDCWD, b.ws+"/l", unix.RENAME_EXCHANGE)
		select {
		case <-s.out.done:
			over = true
		default:
		}
	}
	if code := s.wait(); code != 0 || strings.Join(s.out.all(), " ") != "end" {
		t.Errorf("status %d: %q %s", code, s.out.all(), s.err)
	}
	if r := b.plain("/bin/sh", "-c", "cd "+b.home+"/.ssh && cat id; echo; echo end").ended(); !strings.Contains(r.out, "SECRET") {
		t.Errorf("control: %v", r)
	}
}

// The working directories of the supervisor and of the command do not lead out when the directory
// is named from above.
func TestUpFromTheWorkspace(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.write(b.out+"/file", "kept")
	for _, mode := range []string{"read-only", "workspace-write"} {
		r := b.sh(b.inView(mode), `
			echo x >../out/file; echo x >$PWD/../out/file; ln -s ../out l 2>/dev/null; echo x >l/file
			cp -l ../out/file hard 2>/dev/null && echo x >hard
			mv ../out ../moved; true`).ended()
		b.holds(b.out+"/file", "kept")
		_ = r
		os.RemoveAll(b.ws + "/l")
	}
	if b.sh(specNone, `echo x >../out/file`).ended(); true {
		b.holds(b.out+"/file", "x\n")
	}
}
