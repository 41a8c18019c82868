package reach

import "testing"

func TestParseListen(t *testing.T) {
	for in, want := range map[string]Listen{
		"8080:3000":           {V4(127, 0, 0, 1), 8080, 3000},
		"127.0.0.1:8080:3000": {V4(127, 0, 0, 1), 8080, 3000},
		"0.0.0.0:8080:8080":   {V4(0, 0, 0, 0), 8080, 8080},
		"[::]:8080:3000":      {IP{}, 8080, 3000},
		"[::1]:1:65535":       {IP{15: 1}, 1, 65535},
	} {
		got, err := ParseListen(in)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
		if again, err := ParseListen(got.String()); err != nil || again != got {
			t.Errorf("%s is written as %s and read as %+v", in, got, again)
		}
	}
	if s := ListenAt(80).String(); s != "80" {
		t.Errorf("a port alone is written as %s", s)
	}
	for in, want := range map[string]string{
		"8080":                      `a port alone is a number, got "8080" (did you mean 8080?)`,
		"":                          `want a port or two, got ""`,
		"8080:":                     `want a port or two, got "8080:"`,
		":3000":                     `want a port or two, got ":3000"`,
		"8080:0":                    `want a port or two, got "8080:0"`,
		"8080:65536":                `want a port or two, got "8080:65536"`,
		"08080:3000":                `want a port or two, got "08080:3000"`,
		"8080:3000/udp":             `want a port or two, got "8080:3000/udp"`,
		"0.0.0.0:8080":              `want a port or two, got "0.0.0.0:8080"`,
		"8080:3000\x00":             "want a port or two, got \"8080:3000\\x00\"",
		":8080:3000":                `want an address before the ports, got ""`,
		"localhost:8080:3000":       `want an address before the ports, got "localhost"`,
		"::1:8080:3000":             `want an address before the ports, got "::1"`,
		"[127.0.0.1]:8080:3000":     `want an address before the ports, got "[127.0.0.1]"`,
		"[::ffff:1.2.3.4]:8080:300": `want an address before the ports, got "[::ffff:1.2.3.4]"`,
		"[::1:8080:3000":            `want an address before the ports, got "[::1"`,
		"1.2.3.4]:8080:3000":        `want an address before the ports, got "1.2.3.4]"`,
	} {
		if got, err := ParseListen(in); err == nil || err.Error() != want {
			t.Errorf("%q: %+v, %v; want %s", in, got, err, want)
		}
	}
}

func TestListenTakes(t *testing.T) {
	loopback, every, every6 := ListenAt(80), Listen{V4(0, 0, 0, 0), 80, 3000}, Listen{IP{}, 80, 80}
	for _, c := range []struct {
		a, b          Listen
		takes, covers bool
	}{
		{loopback, loopback, true, true},
		{loopback, ListenAt(81), false, false},
		{loopback, Listen{loopback.Address, 80, 3000}, true, false},
		{every, loopback, true, false}, // another port inside
		{every, Listen{loopback.Address, 80, 3000}, true, true},
		{Listen{loopback.Address, 80, 3000}, every, true, false},
		{every, every6, false, false},
		{every6, Listen{IP{15: 1}, 80, 80}, true, true},
		{loopback, Listen{V4(10, 0, 0, 1), 80, 80}, false, false},
	} {
		if c.a.Takes(c.b) != c.takes || c.b.Takes(c.a) != c.takes || c.a.Covers(c.b) != c.covers {
			t.Errorf("%v and %v: takes %v, covers %v", c.a, c.b, c.a.Takes(c.b), c.a.Covers(c.b))
		}
	}
}
