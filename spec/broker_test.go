package spec

import (
	"strings"
	"testing"
)

func TestBrokerNarrows(t *testing.T) {
	for _, test := range []struct{ parent, child, want string }{
		{`{"broker":{"file":"/srv/f"}}`, `{}`, "/srv/f  "},
		{`{"broker":{"file":"/srv/f","plan":"/srv/f","grant":["fs.read:/srv","net:*.a.example:443"]}}`, `{"access_mode":"read-only"}`, "/srv/f /srv/f fs.read:/srv,net:*.a.example:443"},
		{`{"broker":{"file":"/srv/f","grant":["fs.write:/srv","net:*.a.example:443","secret:T"]}}`, `{"broker":{"plan":"/srv/f","grant":["fs.read:/srv/data","net:b.a.example:443"]}}`, "/srv/f /srv/f fs.read:/srv/data,net:b.a.example:443"},
		{`{"broker":{"file":"/srv/f","grant":["secret:T"]}}`, `{"broker":{"grant":[]}}`, "/srv/f  "},
		// A child cannot make it wider.
		{`{}`, `{"broker":{"file":"/srv/f"}}`, "!broker.file: cannot have /srv/f: the parent has no broker"},
		{`{"broker":{"file":"/srv/f"}}`, `{"broker":{"file":"/opt"}}`, "!broker.file"},
		{`{"broker":{"file":"/srv/f","plan":"/srv/f"}}`, `{"broker":{"plan":"/opt"}}`, "!broker.plan"},
		{`{"broker":{"file":"/srv/f"}}`, `{"broker":{"grant":["secret:T"]}}`, "!broker.grant[0]: cannot have secret:T: the parent has none"},
		{`{"broker":{"file":"/srv/f","grant":["fs.read:/srv"]}}`, `{"broker":{"grant":["fs.write:/srv/data"]}}`, "!broker.grant[0]"},
		{`{"broker":{"file":"/srv/f","grant":["net:a.example:443"]}}`, `{"broker":{"grant":["net:*.a.example:443"]}}`, "!broker.grant[0]"},
	} {
		r, err := narrowed(t, test.parent, test.child)
		if why, refused := strings.CutPrefix(test.want, "!"); refused {
			field, said, _ := strings.Cut(why, ": ")
			if err == nil || !strings.HasPrefix(err.Error(), field+" ") || !strings.Contains(err.Error(), said) {
				t.Errorf("%s, %s: %v, want %s", test.parent, test.child, err, why)
			}
			continue
		}
		var grant []string
		for _, c := range r.Broker.Grant {
			grant = append(grant, c.String())
		}
		if got := r.Broker.File.Real + " " + r.Broker.Plan.Real + " " + strings.Join(grant, ","); err != nil || got != test.want {
			t.Errorf("%s, %s: %q, %v, want %q", test.parent, test.child, got, err, test.want)
		}
	}
}

func TestBrokerIsRefused(t *testing.T) {
	for doc, want := range map[string]string{
		`{"broker":{"plan":"/srv/f"}}`:                                "no broker is named",
		`{"broker":{"grant":["secret:T"]}}`:                           "no broker is named",
		`{"broker":{"file":"nope"}}`:                                  "does not exist",
		`{"broker":{"file":"/srv/f","grant":["fs.read:nope"]}}`:       "does not exist",
		`{"broker":{"file":"/srv/f","grant":["fs.red:/srv"]}}`:        "fs.read:/srv",
		`{"broker":{"file":"/srv/f","grant":["net:a.example"]}}`:      "a.example:443",
		`{"broker":{"file":"/srv/f","grant":["fs.read:$HOME/x"]}}`:    "~/x",
		`{"broker":{"file":"/srv/f","grant":["secret:"]}}`:            "want a capability",
		`{"broker":{"file":"/srv/f","grants":["secret:T"]}}`:          "grant",
		`{"broker":{"file":"/srv/f","grant":["fs.read:/srv\u0000"]}}`: "NUL",
	} {
		s, err := Decode("p.json", []byte(doc))
		if err == nil {
			_, err = Resolve(s, listed())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", doc, err, want)
		}
	}
}
