package reach

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		in     string
		want   Endpoint // without Prefix
		prefix string
	}{
		{"example.com:443", Endpoint{Name: "example.com", Port: 443}, ""},
		{"Example.COM:*", Endpoint{Name: "example.com"}, ""},
		{"*.example.com:443", Endpoint{Name: "*.example.com", Port: 443}, ""},
		{"localhost:3000", Endpoint{Name: "localhost", Port: 3000}, ""},
		{"_dns.1a.b-c:53", Endpoint{Name: "_dns.1a.b-c", Port: 53}, ""},
		{"XN--bcher-kva.Example:443", Endpoint{Name: "xn--bcher-kva.example", Port: 443}, ""},
		{"10.0.0.0/8:5432", Endpoint{Port: 5432}, "10.0.0.0/8"},
		{"192.0.2.1:65535", Endpoint{Port: 65535}, "192.0.2.1"},
		{"0.0.0.0/0:*", Endpoint{}, "0.0.0.0/0"},
		{"[::1]:443", Endpoint{Port: 443}, "::1"},
		{"[fd00::/8]:1", Endpoint{Port: 1}, "fd00::/8"},
		{"[::/0]:*", Endpoint{}, "::/0"},
		{"[2001:DB8::0:1]:2", Endpoint{Port: 2}, "2001:db8::1"},
	} {
		got, err := Parse(test.in)
		if err != nil {
			t.Errorf("%s: %v", test.in, err)
			continue
		}
		prefix := ""
		if got.Prefix.Valid {
			prefix = got.Prefix.String()
		}
		got.Prefix = Prefix{}
		if got != test.want || prefix != test.prefix {
			t.Errorf("%s: %+v %s, want %+v %s", test.in, got, prefix, test.want, test.prefix)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"example.com", `want host:port, got "example.com" (did you mean example.com:443?)`},
		{"https://example.com/x", `want host:port, got "https://example.com/x" (did you mean example.com:443?)`},
		{"http://example.com:80", `want host:port, got "http://example.com:80" (did you mean example.com:80?)`},
		{"", `want host:port, got ""`},
		{"*", `want host:port, got "*"`},
		{"*:443", `want a host before the port, got "*:443"`},
		{":443", `want a host before the port, got ":443"`},
		{"::1:443", `an IPv6 address is written in brackets, got "::1:443"`},
		{"[::1]", `want host:port, got "[::1]"`},
		{"[::1", `want host:port, got "[::1"`},
		{"[::1]x:1", `want host:port, got "[::1]x:1"`},
		{"[fd00::]/8:1", `want host:port, got "[fd00::]/8:1"`},
		{"[1.2.3.4]:1", `want an IPv6 address, got "1.2.3.4"`},
		{"[fe80::1%eth0]:1", `want an IPv6 address, got "fe80::1%eth0"`},
		{"a.b:0", `want a port from 1 to 65535 or *, got "0"`},
		{"a.b:65536", `want a port from 1 to 65535 or *, got "65536"`},
		{"a.b:080", `want a port from 1 to 65535 or *, got "080"`},
		{"a.b:http", `want a port from 1 to 65535 or *, got "http"`},
		{"a.b:1/tcp", `want a port from 1 to 65535 or *, got "1/tcp"`},
		{"a.b.:1", `a host name ends without a dot here, got "a.b." (did you mean a.b?)`},
		{"a.*.b:1", `* stands for whole labels at the front only, as in *.example.com, got "a.*.b"`},
		{"*a.b:1", `* stands for whole labels at the front only, as in *.example.com, got "*a.b"`},
		{"-a.b:1", `want a host name or an address, got "-a.b"`},
		{"a b:1", `want a host name or an address, got "a b"`},
		{"bücher.example:1", `want a host name or an address, got "bücher.example"`},
		{"256.0.0.1:1", `want an IPv4 address, got "256.0.0.1"`},
		{"1.2.3:1", `want an IPv4 address, got "1.2.3"`},
		{"01.2.3.4:1", `want an IPv4 address, got "01.2.3.4"`},
		{"2130706433:1", `want an IPv4 address, got "2130706433"`},
		{"10.0.0.1/8:1", `a range begins at its first address, got "10.0.0.1/8" (did you mean 10.0.0.0/8?)`},
		{"10.0.0.0/33:1", `want a length from 0 to 32 after /, got "33"`},
		{"10.0.0.0/08:1", `want a length from 0 to 32 after /, got "08"`},
		{"[fd00::1/8]:1", `a range begins at its first address, got "fd00::1/8" (did you mean fd00::/8?)`},
		{"@npm", `want host:port, got "@npm"`},
		{"a.b:53/udp", `UDP cannot be allowed, only TCP (did you mean a.b:53?)`},
		{"a.b:*/udp", `UDP cannot be allowed, only TCP (did you mean a.b:*?)`},
		{"-a:1/udp", `UDP cannot be allowed, only TCP`},
		{"A.B.:443", `a host name ends without a dot here, got "A.B." (did you mean A.B?)`},
		{"a.b..:443", `want a host name or an address, got "a.b.."`},
		{strings.Repeat("a", 64) + ".b:1", `want a host name or an address, got "` + strings.Repeat("a", 60) + `..."`},
		{strings.Repeat("a.", 127) + "b:1", `want a host name or an address, got "` + strings.Repeat("a.", 30) + `..."`},
		{"[::ffff:10.0.0.1]:443", `an IPv4 address is written as one, got "::ffff:a00:1" (did you mean 10.0.0.1?)`},
		{"[::ffff:10.0.0.0/104]:443", `an IPv4 address is written as one, got "::ffff:a00:0/104" (did you mean 10.0.0.0/8?)`},
		{"a.b:1\x00", "want a port from 1 to 65535 or *, got \"1\\x00\""},
		{"a\x00.b:1", "want a host name or an address, got \"a\\x00.b\""},
	} {
		e, err := Parse(test.in)
		if err == nil || err.Error() != test.want {
			t.Errorf("%q:\n got %v (%+v)\nwant %s", test.in, err, e, test.want)
		}
	}
}

// FuzzAddress holds addresses and ranges to net/netip.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{
		"1.2.3.4", "01.2.3.4", "1.2.3", "::", "::1", "1::", "fe80::1:2", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::ffff:1.2.3.4",
		"1:2:3:4:5:6:1.2.3.4", "10.0.0.0/8", "10.0.0.1/8", "::/0", "fd00::/7", ":::", "1::2::3", "12345::", "1:0:0:2:0:0:0:3",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, want4 := range []bool{true, false} {
			got, err := parsePrefix(s, want4)
			want, bad := netip.ParsePrefix(s)
			if addr, notAddr := netip.ParseAddr(s); notAddr == nil && addr.Zone() == "" {
				want, bad = netip.PrefixFrom(addr, addr.BitLen()), nil
			}
			fits := bad == nil && want.Addr().Is4() == want4 && want == want.Masked() && !(want.Addr().Is4In6() && want.Bits() >= 96)
			if fits != (err == nil) {
				t.Fatalf("%q as IPv4 %v: %v, net/netip %v %v", s, want4, err, want, bad)
			}
			if err != nil {
				continue
			}
			if got.Bits != want.Bits() || got.String() != plain(want) {
				t.Fatalf("%q: %s, net/netip %s", s, got, want)
			}
		}
	})
}

// plain is p as Prefix.String has it: without the length of a single address.
func plain(p netip.Prefix) string {
	addr := p.Addr()
	if addr.Is4In6() { // net/netip writes these with an IPv4 tail, RFC 5952 leaves the choice
		var six Prefix
		six.Addr, six.Bits, six.Valid = addr.As16(), p.Bits(), true
		return six.String()
	}
	if p.IsSingleIP() {
		return addr.String()
	}
	return p.String()
}

func TestPrefixContains(t *testing.T) {
	for _, test := range []struct {
		outer, inner string
		is4, want    bool
	}{
		{"10.0.0.0/8", "10.1.2.3", true, true},
		{"10.0.0.0/8", "10.0.0.0/8", true, true},
		{"10.0.0.0/8", "10.128.0.0/9", true, true},
		{"10.0.0.0/9", "10.128.0.0/9", true, false},
		{"10.0.0.0/8", "0.0.0.0/0", true, false},
		{"0.0.0.0/0", "192.0.2.1", true, true},
		{"fd00::/8", "fd12::1", false, true},
		{"fd00::/8", "fe00::1", false, false},
		{"::/0", "::1", false, true},
	} {
		outer, err1 := parsePrefix(test.outer, test.is4)
		inner, err2 := parsePrefix(test.inner, test.is4)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if got := outer.Contains(inner); got != test.want {
			t.Errorf("%s contains %s: %v", test.outer, test.inner, got)
		}
	}
	four, _ := parsePrefix("0.0.0.0/0", true)
	six, _ := parsePrefix("::1", false)
	if four.Contains(six) || four.Contains(Prefix{}) || (Prefix{}).Contains(four) {
		t.Error("families were mixed")
	}
}
