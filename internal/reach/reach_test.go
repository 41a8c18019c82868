package reach

import (
	"net/netip"
	"testing"
)

func TestAt(t *testing.T) {
	var r Reach
	for _, s := range []string{"example.com:443", "*.example.com:*", "10.0.0.0/8:5432", "localhost:3000", "[2001:db8::/32]:1", "0.0.0.0/0:7", "[::/0]:7", "127.0.0.0/8:8"} {
		e, err := Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		r = append(r, Rule{Endpoint: e, Text: s})
	}
	for _, c := range []struct {
		host string
		port int
		want string
	}{
		{"example.com", 443, "example.com:443"}, {"example.com", 80, ""},
		{"a.example.com", 80, "*.example.com:*"}, {"a.b.example.com", 80, "*.example.com:*"},
		{"aexample.com", 443, ""}, {".example.com", 443, ""},
		{"10.1.2.3", 5432, "10.0.0.0/8:5432"}, {"10.1.2.3", 5433, ""}, {"11.1.2.3", 5432, ""},
		{"127.0.0.1", 3000, "localhost:3000"}, {"::1", 3000, "localhost:3000"}, {"127.0.0.2", 3000, ""},
		{"2001:db8::5", 1, "[2001:db8::/32]:1"},
		{"192.0.2.1", 7, "0.0.0.0/0:7"}, {"2001:db8::5", 7, "[::/0]:7"}, {"127.0.0.1", 7, ""}, {"::1", 7, ""}, {"0.0.0.0", 7, ""}, {"127.0.0.2", 8, "127.0.0.0/8:8"},
	} {
		find := func() (*Rule, bool) { return r.Name(c.host, c.port) }
		if ip, ok := ParseIP(c.host); ok {
			find = func() (*Rule, bool) { return r.Addr(ip, c.port) }
		}
		got := ""
		if rule, ok := find(); ok {
			got = rule.Text
		}
		if got != c.want {
			t.Errorf("%s port %d is allowed by %q, want %q", c.host, c.port, got, c.want)
		}
	}
}

// Every address that net/netip calls private, loopback, link-local, multicast or
// unspecified is special, in each form in which IPv6 carries it.
func TestSpecial(t *testing.T) {
	for _, s := range []string{"1.1.1.1", "8.8.8.8", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::1", "::ffff:1.1.1.1"} {
		if what := Special(must(t, s)); what != "" {
			t.Errorf("%s is special: %s", s, what)
		}
	}
	for _, s := range []string{"10.0.0.1", "127.0.0.1", "169.254.169.254", "172.31.255.255", "192.168.1.1", "0.0.0.0", "224.0.0.1", "255.255.255.255",
		"::", "::1", "fe80::1", "fd00::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1", "::10.0.0.1", "64:ff9b:1::7f00:1", "100.64.0.1", "198.18.0.1", "168.63.129.16", "64:ff9b::a83f:8110"} {
		if Special(must(t, s)) == "" {
			t.Errorf("%s is not special", s)
		}
	}
}

func must(t *testing.T, s string) IP {
	t.Helper()
	ip, ok := ParseIP(s)
	if want := IP(netip.MustParseAddr(s).As16()); !ok || ip != want {
		t.Fatalf("%s is read as %v, want %v", s, ip, want)
	}
	if got := ip.String(); got != netip.AddrFrom16(ip).Unmap().String() {
		t.Errorf("%s is written as %s", s, got)
	}
	return ip
}

func TestAnyOf(t *testing.T) {
	list := func(items ...string) (all Reach) {
		for _, item := range items {
			r, err := Expand(item, "")
			if err != nil {
				t.Fatal(item, err)
			}
			all = append(all, r...)
		}
		return all
	}
	for _, c := range []struct {
		r, others Reach
		want      bool
	}{
		{list("@npm"), list("@anthropic"), false},
		{list("@npm", "api.anthropic.com:443"), list("@anthropic"), true},
		{list("*.anthropic.com:*"), list("@anthropic"), true},
		{list("api.anthropic.com:80"), list("@anthropic"), false},
		{list("0.0.0.0/0:443"), list("@anthropic"), false}, // a name without a rule has no address
		{list("127.0.0.1:80"), list("localhost:80"), true},
		{list("localhost:80"), list("127.0.0.1:80"), true},
		{list("127.0.0.1:81"), list("localhost:80"), false},
		{nil, list("localhost:80"), false},
	} {
		if got := AnyOf(c.r, c.others); got != c.want {
			t.Errorf("%v of %v: %v", c.r, c.others, got)
		}
	}
}
