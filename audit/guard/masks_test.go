package guard

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs/dirstest"
	"sbx/wrap"
)

// TestOpenedMasks: the notice names the opened directory if its mask belongs to it alone. If
// several directories share a mask, the notice leaves the name out.
func TestOpenedMasks(t *testing.T) {
	g := newGround(t, "file")
	x := g.watch()
	empty := dirstest.Temp(t)
	dirstest.Plant(t, empty, "1/", "2/")
	dir, err := unix.Open(empty, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dir)
	x.Masks(dir, []wrap.MaskedDir{{Inside: "/one", Own: 1}, {Inside: "/two", Own: 2}, {Inside: "/three", Own: 2}, {Inside: "/lost", Own: 3}})
	list := func(name string) func() error {
		return func() error { _, err := os.ReadDir(empty + "/" + name); return err }
	}
	g.expectMasks(x, list("1"), "/one")
	g.expectMasks(x, list("2"), "")
	g.expectMasks(x, func() error { _, err := os.Stat(empty + "/1"); return err })
	for range 3 * maxOpened { // more than are counted; equal events that nobody has read yet are merged
		if err := list("1")(); err != nil {
			t.Fatal(err)
		}
		x.Drain(time.Now())
	}
	g.expectMasks(x, list("1"))
}

func (g *ground) expectMasks(x *Watch, do func() error, want ...string) {
	g.t.Helper()
	if err := do(); err != nil {
		g.t.Fatal(err)
	}
	var got []string
	for _, n := range x.Drain(time.Now()) {
		if n.What == audit.Opened {
			got = append(got, n.Path)
		}
	}
	if strings.Join(got, ";") != strings.Join(want, ";") || len(got) != len(want) {
		g.t.Errorf("got %q, want %q", got, want)
	}
}
