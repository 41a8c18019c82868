package relay

import (
	"net"
	"testing"

	"sbx/internal/reach"
)

// All of the host's addresses are its own, and those for documentation are not.
func TestOwn(t *testing.T) {
	r, err := OpenRoutes()
	must(t, err)
	own, err := net.InterfaceAddrs()
	must(t, err)
	if len(own) == 0 {
		t.Error("no interface has an address")
	}
	for _, a := range own {
		if ip := reach.IP(a.(*net.IPNet).IP.To16()); r.Own(ip) != "the host's own" {
			t.Errorf("%v: %q", ip, r.Own(ip))
		}
	}
	for _, s := range []string{"192.0.2.1", "2001:db8::1"} {
		if ip, _ := reach.ParseIP(s); r.Own(ip) != "" {
			t.Errorf("%v: %q", ip, r.Own(ip))
		}
	}
}

// Without an answer from the kernel no address counts as another host's.
func TestOwnUnanswered(t *testing.T) {
	r := &Routes{fd: -1}
	if ip := reach.V4(192, 0, 2, 1); r.Own(ip) == "" {
		t.Errorf("%v passes", ip)
	}
}
