package outer

import (
	"strconv"
	"strings"
	"testing"

	"sbx/wrap"
	"sbx/wrap/world"
)

// BenchmarkWrap measures one call for a command with a dozen arguments, audit included.
func BenchmarkWrap(b *testing.B) {
	for _, name := range Wrappers() {
		b.Run(name, func(b *testing.B) {
			on := "root"
			if name == nameNone {
				on = "root+" // which enforces nothing
			}
			w, err := made(b, on, name, `{"access_mode": "workspace-write"}`, "", nil)
			if err != nil {
				b.Fatal(err)
			}
			inv := invocation(nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := w.Wrap(inv); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNewWrapper measures the work that is done once for a directory: the Plan, and all parts
// of a line that no invocation changes, on a machine whose /etc is rebuilt from its entries.
func BenchmarkNewWrapper(b *testing.B) {
	var more strings.Builder
	for i := range 180 {
		more.WriteString("file /etc/entry" + strconv.Itoa(i) + "\n")
	}
	w := world.Workstation(b, world.Hosts["root"], "overlay no it is listed whole", more.String())
	r, err := w.Resolve(`{"access_mode": "workspace-write"}`)
	if err != nil {
		b.Fatal(err)
	}
	h := w.Probed(r)
	h.Overlay = wrap.Answer{}
	w.ListAll(h, "/")
	for _, name := range Wrappers() {
		if name == nameNone {
			continue // which enforces nothing
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := newWrapper(name, Ask{Resolved: r, Host: h, Image: "example/image:1"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
