package wrap_test

import (
	"cmp"
	"strings"
	"testing"

	"sbx/internal/reach"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/world"
)

// The advice for a connection is the narrowest line that works: for TCP a list that keeps the
// present entries, and the whole network only if no list would do.
func TestAdviceForTheNetwork(t *testing.T) {
	const host = "network.mode: host"
	for _, c := range []struct {
		doc        string
		req        wrap.Request
		tcp, other string
		target     string // "" for h.example:443
	}{
		{doc: `{}`, tcp: `network.allow: ["h.example:443"]`, other: host},
		{doc: `{"network": {"mode": "none"}}`, tcp: `network: {"allow": ["h.example:443"]}`, other: host},
		{doc: `{"network": {"mode": "none", "listen": [3000, "8080:80"]}}`, tcp: `network: {"allow": ["h.example:443"], "listen": [3000, "8080:80"]}`, other: `network: {"mode": "host"}`},
		{doc: `{"network": {"listen": [3000]}}`, tcp: `network.allow: ["h.example:443"]`, other: `network: {"mode": "host"}`},
		{doc: `{"network": {"allow": ["a.example:1"]}}`, tcp: `network.allow: ["a.example:1", "h.example:443"]`, other: `network: {"mode": "host"}`},
		{doc: `{"network": {"mode": "allow", "allow": []}}`, tcp: `network.allow: ["h.example:443"]`, other: `network: {"mode": "host"}`},
		{doc: `{"network": {"allow": ["h.example:443"]}}`, tcp: "", other: `network: {"mode": "host"}`},
		{doc: `{"network": {"allow": ["a.example:1"]}}`, target: "a.example:22", tcp: `network.allow: ["a.example:1", "a.example:22"]`, other: `network: {"mode": "host"}`},
		{doc: `{"network": {"allow": ["a.example:1"]}}`, target: "8.8.8.8:80", tcp: `network.allow: ["a.example:1", "8.8.8.8:80"]`, other: `network: {"mode": "host"}`},
		{doc: `{"network": {"allow": ["a.example:1"]}}`, target: "[2001:db8::8]:80", tcp: `network.allow: ["a.example:1", "[2001:db8::8]:80"]`, other: `network: {"mode": "host"}`},
		{doc: `{"network": {"mode": "none"}}`, req: wrap.Request{NoRelay: "it is not there"}, tcp: host, other: host},
		{doc: `{"network": {"mode": "none"}}`, req: wrap.Request{Counter: wrap.CounterPtrace}, tcp: host, other: host},
		{doc: `{"network": {"mode": "none"}, "best_effort": ["*"]}`, req: wrap.Request{NoRelay: "it is not there"}, tcp: host, other: host},
		{doc: `{"network": {"allow": ["a.example:1"]}, "best_effort": ["*"]}`, req: wrap.Request{NoRelay: "it is not there"}, tcp: `network: {"mode": "host"}`, other: `network: {"mode": "host"}`},
	} {
		doc := strings.Replace(strings.Replace(c.doc, "{", `{"access_mode": "workspace-write", `, 1), ", }", "}", 1)
		w := world.Workstation(t)
		w.Req.NoRelay, w.Req.Counter = c.req.NoRelay, c.req.Counter
		r, plan, err := w.Build(doc)
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		a := wrap.Adviser{Plan: plan, Resolved: r, Host: w.Probed(r), Request: w.Req}
		if got := a.Advise(wrap.Act{wrap.ToReach, "o\xffd.example:443"}).Line; got != "" {
			t.Errorf("%s: %q for a name that no document can have", doc, got)
		}
		target := cmp.Or(c.target, "h.example:443")
		for kind, want := range map[wrap.ActKind]string{wrap.ToReach: c.tcp, wrap.ToReachElse: c.other} {
			got := a.Advise(wrap.Act{kind, target}).Line
			if got != want {
				t.Errorf("%s %+v: kind %d: %q, want %q", doc, c.req, kind, got, want)
				continue
			}
			if got == "" {
				continue
			}
			next, plan, err := w.Build(followed(t, doc, got))
			if err != nil {
				t.Errorf("%s, with %s: %v", doc, got, err)
			} else if e, _ := reach.Parse(target); !(len(reach.Wider(next.Reach, reach.Reach{{Endpoint: e}})) == 0 && plan.Relay) && next.Network != spec.NetworkHost {
				t.Errorf("%s, with %s: %v is not reached", doc, got, next.Reach)
			}
			if next != nil && len(next.Listen) < len(r.Listen) && next.Network != spec.NetworkHost {
				t.Errorf("%s, with %s: ports are published no more", doc, got)
			}
		}
	}
}
