package e2e

import (
	"net"
	"testing"
)

// A service that acts on the host for any client is out of reach as soon as writing is confined,
// and within reach if the spec names its socket.
func TestServicesAreShutWhereWritingIsConfined(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	engine, other := b.out+"/docker.sock", b.out+"/other.sock"
	for _, path := range []string{engine, other} {
		l, err := net.Listen("unix", path)
		must(t, err)
		t.Cleanup(func() { l.Close() })
	}
	b.env = append(b.env, "DOCKER_HOST=unix://"+engine)
	tries := []string{"connect|" + engine, "connect|" + other}
	ws := quoted(b.ws)
	for _, c := range []struct{ spec, engine string }{
		{`{"filesystem": {"hide": ["/media"]}}`, "ok"}, // the control
		{`{"filesystem": {"write": [` + ws + `]}}`, "EACCES ECONNREFUSED"},
		{`{"filesystem": {"write": [` + ws + `, ` + quoted(b.out) + `]}}`, "EACCES ECONNREFUSED"}, // a directory above opens nothing
		{`{"filesystem": {"write": []}, "working_dir": ` + ws + `}`, "EACCES ECONNREFUSED"},
		{`{"filesystem": {"write": [` + ws + `, ` + quoted(engine) + `]}}`, "ok"},
	} {
		got := b.tries(c.spec, tries...)
		if !oneOf(got[tries[0]], c.engine) || got[tries[1]] != "ok" {
			t.Errorf("%s: %v", c.spec, got)
		}
	}
}
