package spec

import (
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// tree is a file system in a map: a path is "dir", "file", "shut" (a directory that may not be
// searched) or "-> target".
type tree map[string]string

func (m tree) Lstat(path string) (Info, error) {
	if path == "/" {
		return Info{IsDir: true}, nil
	}
	for _, name := range strings.Split(path[1:], "/") {
		if len(name) > 255 {
			return Info{}, NameTooLong
		}
	}
	if m[parent(path)] == "shut" {
		return Info{}, NoAccess
	}
	what, ok := m[path]
	if !ok {
		return Info{}, NoEntry
	}
	return Info{IsDir: what == "dir" || what == "shut", IsLink: strings.HasPrefix(what, "-> ")}, nil
}

func (m tree) Readlink(path string) (string, error) { return strings.TrimPrefix(m[path], "-> "), nil }

func TestResolvePath(t *testing.T) {
	m := tree{
		"/a": "dir", "/a/b": "dir", "/a/b/f": "file", "/a/up": "-> ..", "/a/l": "-> b", "/a/abs": "-> /c", "/c": "dir", "/c/d": "dir",
		"/a/loop": "-> loop", "/a/gone": "-> /x/y", "/a/file": "-> b/f", "/a/slash": "-> b/f/", "/a/dot": "-> .", "/a/empty": "-> ",
		"/shut": "shut", "/shut/x": "file",
	}
	for i := range 41 {
		m["/n"+strconv.Itoa(i)] = "-> n" + strconv.Itoa(i+1)
	}
	m["/n41"] = "dir"
	for _, test := range []struct {
		in   string
		abs  string
		real string
		kind string // "dir", "file", "none", or the error
	}{
		{"/", "/", "/", "dir"},
		{"//a///b/.", "/a/b", "/a/b", "dir"},
		{"/a/b/f", "/a/b/f", "/a/b/f", "file"},
		{"/a/b/", "/a/b", "/a/b", "dir"},
		{"/a/b/f/", "", "", NotDirectory.Error()},
		{"/a/b/f/.", "", "", NotDirectory.Error()},
		{"/a/b/f/..", "", "", NotDirectory.Error()},
		{"/a/b/f/x", "", "", NotDirectory.Error()},
		{"/a/x", "/a/x", "/a/x", "none"},
		{"/a/x/y/z", "/a/x/y/z", "/a/x/y/z", "none"},
		{"/a/x/..", "", "", NoEntry.Error()},
		{"/..", "/", "/", "dir"},
		{"/../../a", "/a", "/a", "dir"},
		{"/a/b/..", "/a", "/a", "dir"},
		{"/a/l", "/a/l", "/a/b", "dir"},
		{"/a/l/f", "/a/l/f", "/a/b/f", "file"},
		{"/a/l/x", "/a/l/x", "/a/b/x", "none"},
		{"/a/l/..", "/a", "/a", "dir"},
		{"/a/abs", "/a/abs", "/c", "dir"},
		{"/a/abs/d", "/a/abs/d", "/c/d", "dir"},
		{"/a/abs/d/..", "/a/abs", "/c", "dir"},
		{"/a/abs/..", "/", "/", "dir"},           // not /a
		{"/a/abs/../c/d", "/c/d", "/c/d", "dir"}, // nor /a/c/d
		{"/a/abs/d/../..", "/", "/", "dir"},
		{"/a/up", "/a/up", "/", "dir"},
		{"/a/up/c/d", "/a/up/c/d", "/c/d", "dir"},
		{"/a/loop", "", "", TooManyLinks.Error()},
		{"/a/loop/x", "", "", TooManyLinks.Error()},
		{"/a/gone", "/a/gone", "/x/y", "none"},
		{"/a/gone/z", "/a/gone/z", "/x/y/z", "none"},
		{"/a/file", "/a/file", "/a/b/f", "file"},
		{"/a/file/", "", "", NotDirectory.Error()},
		{"/a/slash", "", "", NotDirectory.Error()},
		{"/a/dot", "/a/dot", "/a", "dir"},
		{"/a/dot/dot/b", "/a/dot/dot/b", "/a/b", "dir"},
		{"/a/empty", "", "", NoEntry.Error()},
		{"/shut", "/shut", "/shut", "dir"},
		{"/shut/x", "", "", NoAccess.Error()},
		{"/n1", "/n1", "/n41", "dir"}, // 40 links
		{"/n0", "", "", TooManyLinks.Error()},
		{"/a/" + strings.Repeat("x", 256), "", "", NameTooLong.Error()},
	} {
		p, err := resolvePath(m, test.in)
		kind := "none"
		switch {
		case err != nil:
			kind = err.Error()
		case p.IsDir:
			kind = "dir"
		case p.Exists:
			kind = "file"
		}
		if kind != test.kind || err == nil && (p.Abs != test.abs || p.Real != test.real) {
			t.Errorf("%s: %s, %s, %s; want %s, %s, %s", test.in, p.Abs, p.Real, kind, test.abs, test.real, test.kind)
		}
	}
	p, err := resolvePath(m, "/a/up/a/l/f")
	if want := []Link{{"/a/up", ".."}, {"/a/l", "b"}}; err != nil || !slices.Equal(p.Links, want) {
		t.Errorf("links %v, %v, want %v", p.Links, err, want)
	}
}

// randomTree makes directories, files and links to random places nearby, dangling and looping ones
// among them.
func randomTree(t testing.TB, r *rand.Rand) (root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dirs := []string{root}
	names := []string{"a", "b", "c", "d"}
	for range 30 {
		at := filepath.Join(dirs[r.Intn(len(dirs))], names[r.Intn(len(names))])
		switch r.Intn(5) {
		case 0, 1:
			if os.Mkdir(at, 0o700) == nil {
				dirs = append(dirs, at)
			}
		case 2:
			if f, err := os.OpenFile(at, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
			}
		default:
			target := randomPath(r, names)
			if r.Intn(4) == 0 {
				target = root + "/" + target
			}
			_ = os.Symlink(target, at) // the name may be taken
		}
	}
	return root
}

func randomPath(r *rand.Rand, names []string) string {
	var parts []string
	for range r.Intn(4) + 1 {
		parts = append(parts, append(names, "..", "..", ".", "")[r.Intn(len(names)+4)])
	}
	p := strings.Join(parts, "/")
	if p == "" {
		return "."
	}
	return strings.TrimLeft(p, "/") + "."[:r.Intn(2)]
}

// The kernel resolves every path of a random tree as our walk does.
func TestResolvePathAgainstKernel(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	r := rand.New(rand.NewSource(1))
	outcomes := map[string]int{}
	for range rounds {
		root := randomTree(t, r)
		for range 300 {
			asked := root + "/" + randomPath(r, []string{"a", "b", "c", "d"})
			p, err := resolvePath(HostPaths{}, asked)
			fd, kernel := syscall.Open(asked, openPath|syscall.O_CLOEXEC, 0)
			if kernel != nil {
				outcomes[kernel.Error()]++
				ours := err
				if err == nil && !p.Exists {
					ours = NoEntry
				}
				if ours != faultOf(kernel) {
					t.Errorf("%s: %v, kernel %v", asked, ours, kernel)
				}
				continue
			}
			outcomes["found"]++
			var st syscall.Stat_t
			real, err1 := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
			err2 := syscall.Fstat(fd, &st)
			if err := errors.Join(err1, err2, syscall.Close(fd)); err != nil {
				t.Fatal(err)
			}
			if err != nil || p.Real != real || !p.Exists || p.IsDir != (st.Mode&syscall.S_IFMT == syscall.S_IFDIR) {
				t.Errorf("%s: %+v, %v; kernel %s", asked, p, err, real)
			}
			// Abs is another name of the same file.
			if again, err := filepath.EvalSymlinks(p.Abs); err != nil || again != real {
				t.Errorf("%s: abs %s is %s, %v; want %s", asked, p.Abs, again, err, real)
			}
		}
	}
	for _, outcome := range []string{"found", syscall.ENOENT.Error(), syscall.ENOTDIR.Error(), syscall.ELOOP.Error()} {
		if outcomes[outcome] == 0 {
			t.Errorf("no path ended in: %s", outcome)
		}
	}
}

// openPath is O_PATH, which package syscall does not have.
const openPath = 0x200000

func TestClean(t *testing.T) {
	for _, p := range []string{
		"", ".", "/", "//", "a", "a/", "a//b", "/a/./b/", "a/..", "a/../..", "../a", "/..", "/../a", "a/b/../../../c", "./a", "/a/b/../../..", "...", "a/.../b",
	} {
		if got, want := clean(p), filepath.Clean(p); got != want {
			t.Errorf("%q: %q, want %q", p, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("/a/../b//./c/")
	f.Fuzz(func(t *testing.T, p string) {
		if got, want := clean(p), filepath.Clean(p); got != want {
			t.Errorf("%q: %q, want %q", p, got, want)
		}
	})
}

func TestWithin(t *testing.T) {
	for _, test := range []struct {
		dir, p string
		want   bool
	}{
		{"/", "/", true}, {"/", "/a", true}, {"/a", "/a", true}, {"/a", "/a/b", true}, {"/a", "/ab", false}, {"/a/b", "/a", false},
	} {
		if got := under(test.p, test.dir); got != test.want {
			t.Errorf("%s in %s: %v", test.p, test.dir, got)
		}
	}
}

// Errors of the host arrive as faults, others unchanged.
func TestHostPathsErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		dir + "/none": NoEntry, file + "/x": NotDirectory, dir + "/" + strings.Repeat("x", 256): NameTooLong,
	} {
		if _, err := (HostPaths{}).Lstat(path); err != want {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if _, err := (HostPaths{}).Readlink(file); err != syscall.EINVAL {
		t.Errorf("readlink of a file: %v", err)
	}
}
