package spec

import (
	"encoding/json"
	"testing"
)

// A document has the same digest in every format.
func TestCanonicalOfFormats(t *testing.T) {
	var want string
	for i, in := range []string{
		`{"access_mode":"read-only","limits":{"cpus":1.5,"memory":1073741824}}`,
		`{"limits": {"memory": 1073741824.0, "cpus": 15e-1}, "access_mode": "read-only"}`,
		"limits:\n  cpus: 1.5\n  memory: 0x40000000\naccess_mode: read-only\n",
	} {
		s, err := Decode("in", []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		got := string(s.AppendCanonical(nil))
		if i == 0 {
			want = got
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestAppendJSON(t *testing.T) {
	s, err := Decode("in", []byte(`{"working_dir": "b", "environment": {"set": {"B": "secret", "A": "other"}, "pass": ["A"]}, "max_turns": 1e1}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		redact func(string) bool
		want   string
	}{
		{nil, `{"working_dir":"b","environment":{"set":{"B":"secret","A":"other"},"pass":["A"]},"max_turns":1e1}`},
		{IsSecretPath, `{"working_dir":"b","environment":{"set":{"B":"<redacted>","A":"<redacted>"},"pass":["A"]},"max_turns":1e1}`},
		{func(p string) bool { return p == "environment.pass[0]" }, `{"working_dir":"b","environment":{"set":{"B":"secret","A":"other"},"pass":["<redacted>"]},"max_turns":1e1}`},
	} {
		got := s.Node().AppendJSON(nil, test.redact)
		if string(got) != test.want || !json.Valid(got) {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// An empty spec made in Go is an empty object.
func TestNodeOfNothing(t *testing.T) {
	if got := string((&SandboxSpec{}).AppendCanonical(nil)); got != "{}" {
		t.Errorf("got %s", got)
	}
}
