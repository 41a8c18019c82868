package audit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sbx/internal/doc"
	"sbx/spec"
)

func TestParseRefuses(t *testing.T) {
	for _, c := range []string{
		"", "null", "[]", "{}", `{"record_version":1}`, `{"state":"exited"}`,
		`{"record_version":1,"state":"exited"`, `{"record_version":1,"state":"exited"}x`,
		`{"record_version":1,"state":"exited",}`, `{"record_version" 1}`, `{1:2}`,
		`{"record_version":01,"state":"x"}`, `{"record_version":1.,"state":"x"}`, `{"record_version":-,"state":"x"}`,
		`{"record_version":1e,"state":"x"}`, `{"record_version":tru,"state":"x"}`,
		"{\"record_version\":1,\"state\":\"a\nb\"}", `{"record_version":1,"state":"\x"}`,
		`{"record_version":1,"state":"\u12"}`, `{"record_version":1,"state":"`, `{"record_version":1,"state":"\`,
		`{"record_version":1,"state":"x","a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
		`{"record_version":1,"state":"x","a":[1 2]}`,
	} {
		if v, err := Parse([]byte(c)); err == nil {
			t.Errorf("%.60q was read as %+v", c, v)
		}
	}
	if _, err := Parse(make([]byte, maxRecord+1)); err == nil {
		t.Error("a record beyond the bound was read")
	}
}

func TestParseToleratesWhatItDoesNotKnow(t *testing.T) {
	v, err := Parse([]byte(` {"record_version":7,"state":"dreaming","new":{"a":[null,true,false,-1.5e+3,"\ud83d\ude00\ud83d\/\b\f"]},"state":"x"} `))
	if err != nil {
		t.Fatal(err)
	}
	if v.State != "dreaming" {
		t.Errorf("state %q", v.State)
	}
	if got := v.Node.Get("new").Get("a").Items[4].Text; got != "😀\ufffd/\b\f" {
		t.Errorf("%q", got)
	}
}

// FuzzParse compares the reader with encoding/json: it accepts nothing else, and reads the same
// strings and numbers.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"record_version":1,"state":"running","a":[1,{"b":"\u00e9\ud800"},null]}`))
	f.Add([]byte(`{"a":[[[[]]]],"b":-0.1e9,"b":"twice"}`))
	f.Add([]byte("{\"a\":\"\xff\"}"))
	f.Add(sample().AppendJSON(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := doc.ParseLaxJSON("", b, maxNested)
		if valid := json.Valid(b); err == nil && !valid {
			t.Fatalf("%q is no JSON", b)
		} else if err != nil && valid && !strings.Contains(err.Error(), "deep") {
			t.Fatalf("%q: %v", b, err)
		}
		if err != nil {
			return
		}
		var want any
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		same(t, n, want)
		_, _, _ = Settled(func() ([]byte, error) { return b, nil }) // odd types must not cause a panic
	})
}

func same(t *testing.T, n *spec.Node, want any) {
	t.Helper()
	switch w := want.(type) {
	case string:
		if n.Kind != spec.String || n.Text != w {
			t.Fatalf("%q for %q", n.Text, w)
		}
	case json.Number:
		if n.Kind != spec.Number || n.Text != w.String() {
			t.Fatalf("%q for %q", n.Text, w)
		}
	case []any:
		if n.Kind != spec.List || len(n.Items) != len(w) {
			t.Fatalf("%v for %v", n, w)
		}
		for i := range w {
			same(t, n.Items[i], w[i])
		}
	case map[string]any:
		if n.Kind != spec.Object {
			t.Fatalf("%v for %v", n, w)
		}
		last := map[string]*spec.Node{}
		for _, m := range n.Members {
			last[m.Key] = m.Value
		}
		if len(last) != len(w) {
			t.Fatalf("%v for %v", last, w)
		}
		for k, v := range w {
			same(t, last[k], v)
		}
	}
}
