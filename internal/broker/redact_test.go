package broker

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"sbx/spec/redact"
)

func redacted(r *Redactor, chunks ...string) string {
	w := bounded{of: r, max: 1 << 20}
	for _, c := range chunks {
		_, _ = w.Write([]byte(c))
	}
	w.finish()
	return string(w.out)
}

func TestSecretsAreRemoved(t *testing.T) {
	const secret = "s3cr\"t/va+lue"
	r := NewRedactor([]string{secret, "lue-and-more"})
	quoted, _ := json.Marshal(secret)
	for _, form := range []string{secret, strings.Trim(string(quoted), `"`), url.QueryEscape(secret), url.PathEscape(secret), strings.ToLower(url.QueryEscape("\"/+")) + secret, escaped(secret)} {
		if got := redacted(r, "a "+form+" b"); strings.Contains(got, secret) || !strings.HasPrefix(got, "a ") || !strings.HasSuffix(got, " b") || !strings.Contains(got, redact.Mark) {
			t.Errorf("%q becomes %q", form, got)
		}
	}
	for before := range 6 {
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			text := e.EncodeToString([]byte(strings.Repeat("x", before) + secret + "yz"))
			got := redacted(r, text)
			if !strings.Contains(got, redact.Mark) {
				t.Errorf("behind %d bytes %q stays %q", before, text, got)
			}
		}
	}
	// Two that overlap leave nothing of either.
	if got := redacted(r, "<"+secret+"-and-more>"); got != "<"+redact.Mark+">" {
		t.Errorf("two that overlap become %q", got)
	}
	// The control: without the secrets nothing changes.
	if got := redacted(NewRedactor(nil), "a "+secret); got != "a "+secret {
		t.Errorf("without secrets it becomes %q", got)
	}
}

func TestASecretAcrossChunksIsRemoved(t *testing.T) {
	r := NewRedactor([]string{"0123456789"})
	for i := range 11 {
		if got := redacted(r, "ab"+"0123456789"[:i], "0123456789"[i:]+"cd"); got != "ab"+redact.Mark+"cd" {
			t.Errorf("cut at %d: %q", i, got)
		}
	}
}

func TestAResultIsCut(t *testing.T) {
	w := bounded{of: NewRedactor([]string{"0123456789"}), max: 20}
	_, _ = w.Write([]byte("aaaaaaaaaaaaaaa0123456789bbbbbbbbbbbbbbbbbb"))
	w.finish()
	if !w.cut || len(w.out) > 20 || bytes.Contains(w.out, []byte("0123")) {
		t.Errorf("%q, cut %v", w.out, w.cut)
	}
}

// Whatever the chunks, the result is the same, and no form of a secret is in it.
func FuzzRedactor(f *testing.F) {
	f.Add("a password1 b", "password1", "word1 b pa", uint8(4))
	f.Add("aaaaaaaaaaaaaaa", "aaaaaaaa", "aaaaaaaab", uint8(3))
	f.Fuzz(func(t *testing.T, text, one, two string, size uint8) {
		if len(one) < minSecret || len(two) < minSecret || size == 0 || strings.ContainsAny(one+two, "<>") {
			return
		}
		r := NewRedactor([]string{one, two})
		want := redacted(r, text)
		var chunks []string
		for rest := text; rest != ""; {
			n := min(int(size), len(rest))
			chunks = append(chunks, rest[:n])
			rest = rest[n:]
		}
		if got := redacted(r, chunks...); got != want {
			t.Errorf("in chunks %q, whole %q", got, want)
		}
		for _, part := range strings.Split(want, redact.Mark) {
			if strings.Contains(part, one) || strings.Contains(part, two) {
				t.Errorf("%q keeps a secret: %q", text, want)
			}
		}
		if got := redacted(r, base64.StdEncoding.EncodeToString([]byte(text))); strings.Contains(text, one) && !strings.Contains(got, redact.Mark) {
			t.Errorf("base64 of %q keeps a secret: %q", text, got)
		}
	})
}
