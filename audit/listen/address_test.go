package listen

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func addressOf(b []byte) *address {
	var a address
	a.n = copy(a.b[:maxAddress], b)
	return &a
}

func unixAddress(path string) []byte { return append([]byte{unix.AF_UNIX, 0}, path...) }

func TestAddressesAreReadAsTheKernelDoes(t *testing.T) {
	long := strings.Repeat("x", 108)
	for _, c := range []struct {
		name     string
		b        []byte
		path     string // "" for none
		abstract bool
	}{
		{"nothing", nil, "", false},
		{"half a family", []byte{1}, "", false},
		{"no name", unixAddress(""), "", false},
		{"a path", unixAddress("/a"), "/a", false},
		{"with its NUL", unixAddress("/a\x00"), "/a", false},
		{"what stands behind the NUL", unixAddress("/a\x00/b"), "/a", false},
		{"abstract", unixAddress("\x00a"), "", true},
		{"abstract and empty", unixAddress("\x00"), "", true},
		{"as long as it may be", unixAddress(long), long, false},
		{"longer", unixAddress(long + "x"), "", false},
		{"another family", append([]byte{unix.AF_INET, 0}, "/a"...), "", false},
		{"a family's high byte", append([]byte{unix.AF_UNIX, 1}, "/a"...), "", false},
	} {
		a := addressOf(c.b)
		path := a.path()
		if got := string(bytes.TrimSuffix(path, []byte{0})); got != c.path || (path == nil) != (c.path == "") || a.abstract() != c.abstract {
			t.Errorf("%s: path %q, abstract %v", c.name, got, a.abstract())
		}
	}
}

func TestAddressesOutsideAreNamed(t *testing.T) {
	four := func(a, b, c, d byte) []byte {
		return append([]byte{unix.AF_INET, 0, 1, 187, a, b, c, d}, make([]byte, 8)...)
	}
	six := func(s string) []byte {
		ip := netip.MustParseAddr(s).As16()
		return append(append([]byte{unix.AF_INET6, 0, 1, 187, 0, 0, 0, 0}, ip[:]...), 0, 0, 0, 0)
	}
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{four(1, 2, 3, 4), "1.2.3.4:443"},
		{four(127, 0, 0, 1), ""},
		{four(127, 9, 9, 9), ""},
		{four(0, 0, 0, 0), ""},
		{four(255, 255, 255, 255), "255.255.255.255:443"},
		{four(1, 2, 3, 4)[:15], ""},
		{six("::1"), ""},
		{six("::"), ""},
		{six("::2"), "[::2]:443"},
		{six("::ffff:127.0.0.1"), ""},
		{six("::ffff:8.8.8.8"), "8.8.8.8:443"},
		{six("2001:db8::1")[:24], "[2001:db8::1]:443"},
		{six("2001:db8::1")[:23], ""},
		{unixAddress("/1234567890123456"), ""},
		{nil, ""},
	} {
		got, ok := addressOf(c.b).outside()
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%v: %q, want %q", c.b, got, c.want)
		}
	}
}

func TestPathsBeneathADescriptor(t *testing.T) {
	for path, want := range map[string]string{
		"/proc/self/fd/7/a":           "7 a",
		"/proc/self/fd/7//a/b":        "7 a/b",
		"/proc/thread-self/fd/0/x":    "0 x",
		"/dev/fd/3/x":                 "3 x",
		"/proc/self/fd/7":             "",
		"/proc/self/fd/7/":            "",
		"/proc/self/fd/-1/a":          "",
		"/proc/self/fd//a":            "",
		"/proc/self/fd/99999999999/a": "",
		"/proc/1/fd/7/a":              "",
		"a/proc/self/fd/7/a":          "",
	} {
		n, rest, ok := ownDir(append([]byte(path), 0))
		got := ""
		if ok {
			got = string('0'+byte(n)) + " " + string(bytes.TrimSuffix(rest, []byte{0}))
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// FuzzAddress: for any bytes at most one interpretation applies, the only NUL of a path is its end,
// and the numbers of an address agree with the standard library's.
func FuzzAddress(f *testing.F) {
	for _, b := range [][]byte{nil, {1}, unixAddress("/a"), unixAddress("\x00a"), unixAddress(strings.Repeat("x", 108)),
		append([]byte{2, 0, 1, 187, 8, 8, 8, 8}, make([]byte, 8)...), append([]byte{10, 0, 1, 187, 0, 0, 0, 0, 0x20, 1, 0xd, 0xb8}, make([]byte, 16)...)} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a := addressOf(b)
		whole := *a
		path := a.path()
		text, out := a.outside()
		if path != nil && (a.abstract() || out || len(path) < 2 || len(path) > 109 || bytes.IndexByte(path, 0) != len(path)-1) {
			t.Errorf("%v: path %q, abstract %v, outside %v", b, path, a.abstract(), out)
		}
		if path != nil && !bytes.HasPrefix(whole.b[sunPath:whole.n], path[:len(path)-1]) {
			t.Errorf("%v: path %q", b, path)
		}
		if out {
			ap, err := netip.ParseAddrPort(text)
			if err != nil || ap.String() != text {
				t.Errorf("%v: %q, %v %v", b, text, ap, err)
			}
		}
		ownDir(append(append([]byte("/proc/self/fd/"), bytes.ReplaceAll(b, []byte{0}, nil)...), 0))
		if *a != whole {
			t.Errorf("%v: reading changed it", b)
		}
	})
}

func TestTheSizesAreTheKernels(t *testing.T) {
	if maxUnix != unix.SizeofSockaddrUnix || sizeofInet4 != unix.SizeofSockaddrInet4 || sizeofInet6 != unix.SizeofSockaddrInet6-4 {
		t.Error("another size")
	}
}
