package broker

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

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

// wrapped returns a text in lines.
func wrapped(s string, columns int, end string) string {
	var b strings.Builder
	for ; len(s) > columns; s = s[columns:] {
		b.WriteString(s[:columns] + end)
	}
	return b.String() + s + end
}

// each writes each byte or character by a randomly chosen function.
func each(s string, r *rand.Rand, ways ...func(c rune) string) string {
	var b strings.Builder
	for _, c := range s {
		b.WriteString(ways[r.IntN(len(ways))](c))
	}
	return b.String()
}

// plainly leaves a character unchanged, except those that have a meaning in an encoding.
func plainly(but string, or func(c rune) string) func(c rune) string {
	return func(c rune) string {
		if strings.ContainsRune(but, c) {
			return or(c)
		}
		return string(c)
	}
}

// percented writes each byte of a character.
func percented(verb string) func(c rune) string {
	return func(c rune) string {
		var b strings.Builder
		for _, one := range []byte(string(c)) {
			fmt.Fprintf(&b, verb, one)
		}
		return b.String()
	}
}

func unicoded(c rune) string {
	if c > 0xffff {
		high, low := utf16.EncodeRune(c)
		return fmt.Sprintf("\\u%04x\\u%04X", high, low)
	}
	return fmt.Sprintf("\\u%04x", c)
}

// spellings returns ways to write a text with a secret, as other programs and the standard library
// write it. Between them is plain text.
func spellings(text string, r *rand.Rand) map[string]string {
	marshalled, _ := json.Marshal(text)
	slashed := strings.ReplaceAll(string(marshalled), "/", `\/`)
	std, urls := base64.StdEncoding.EncodeToString([]byte(text)), base64.URLEncoding.EncodeToString([]byte(text))
	plainHex := hex.EncodeToString([]byte(text))
	all := map[string]string{
		"JSON": string(marshalled), "JSON with \\/": slashed, "quoted": fmt.Sprintf("%q", text), "quoted in ASCII": fmt.Sprintf("%+q", text),
		"JSON, all escaped": each(text, r, unicoded), "percent, all": each(text, r, percented("%%%02x")), "percent, large": each(text, r, percented("%%%02X")),
		"percent, some":  each(text, r, percented("%%%02x"), percented("%%%02X")),
		"percent, mixed": each(text, r, percented("%%%02x"), plainly("%", percented("%%%02X"))), "JSON, mixed": each(text, r, unicoded, plainly("\"\\", unicoded)),
		"a query": url.QueryEscape(text), "a small query": smallHex(url.QueryEscape(text)), "a path": url.PathEscape(text),
		"hex": plainHex, "large hex": strings.ToUpper(plainHex), "a dump": wrapped(plainHex, 60, "\n"), "spaced hex": fmt.Sprintf("% x", text), "colons": strings.ReplaceAll(fmt.Sprintf("% X", text), " ", ":"),
		"base64": std, "base64url": urls, "unpadded": strings.TrimRight(std, "="), "unpadded url": strings.TrimRight(urls, "="),
	}
	for _, columns := range []int{64, 76} {
		all[fmt.Sprint("base64 at ", columns)] = wrapped(std, columns, "\n")
		all[fmt.Sprint("base64 at ", columns, " by CRLF")] = wrapped(std, columns, "\r\n")
		all[fmt.Sprint("base64 at ", columns, " in JSON")] = wrapped(std, columns, `\n`)
		all[fmt.Sprint("base64 at ", columns, " in YAML")] = wrapped(std, columns, "\n    ")
	}
	return all
}

func smallHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// Each spelling of a secret is removed, wherever it stands. In the control, without the secret, it
// stays.
func TestSecretsAreRemoved(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	none := NewRedactor(nil)
	for _, secret := range []string{"s3cr\"t/va+lue", "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\nVJTUt9Us8cKj==\n-----END KEY-----", "pässwörd🔑 %41\\n+ x", "12345678"} {
		known := NewRedactor([]string{secret, "another-secret"})
		for before := range 4 {
			text := strings.Repeat("\x01", before) + secret + strings.Repeat("\x02", before)
			for name, spelling := range spellings(text, r) {
				whole := "<" + spelling + ">"
				if got := redacted(known, whole); !strings.Contains(got, redact.Mark) || got[0] != '<' {
					t.Errorf("%s: %q becomes %q", name, whole, got)
				}
				if got := redacted(none, whole); got != whole {
					t.Errorf("%s: the control becomes %q", name, got)
				}
			}
		}
	}
	// Of two overlapping secrets nothing is left.
	overlap := NewRedactor([]string{"s3cr\"t/va+lue", "lue-and-more"})
	if got := redacted(overlap, "<s3cr\"t/va+lue-and-more>"); got != "<"+redact.Mark+">" {
		t.Errorf("two that overlap become %q", got)
	}
	// A text that only resembles a secret stays complete.
	for _, text := range []string{"s3cr\"t/va+lu", "czNjcg", `\u0073\u0033\u00`, "%73%3", "7333", `\`, "%", "\\ud83d"} {
		if got := redacted(overlap, text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// The page names each encoding that is recognised, so that it also shows which are not.
func TestEncodingsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../cmd/sbx-broker/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range encodings {
		if row := "| " + e.name + " | " + e.why + " |\n"; !strings.Contains(string(page), row) {
			t.Errorf("the page lacks %s", row)
		}
	}
}

func TestASecretAcrossChunksIsRemoved(t *testing.T) {
	const secret = "0123456789"
	r := NewRedactor([]string{secret})
	for name, text := range spellings(secret, rand.New(rand.NewPCG(3, 4))) {
		want := redacted(r, "ab"+text+"cd")
		for i := range len(text) + 1 {
			if got := redacted(r, "ab"+text[:i], text[i:]+"cd"); got != want || !strings.Contains(got, redact.Mark) {
				t.Errorf("%s cut at %d: %q, whole %q", name, i, got, want)
			}
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

// Whatever the chunks, the result is the same, and contains no spelling of a secret.
func FuzzRedactor(f *testing.F) {
	f.Add("a password1 b", "password1", "word1 b pa", uint8(4))
	f.Add("aaaaaaaaaaaaaaa", "aaaaaaaa", "aaaaaaaab", uint8(3))
	f.Add("%70assword\\u0031", "password1", "\\\\\\\\\\\\\\\\", uint8(1))
	f.Add("NzM3Mzcz\\nNzM3", "7373737373", "%%%%%%%%41", uint8(2))
	f.Fuzz(func(t *testing.T, text, one, two string, size uint8) {
		if len(one) < minSecret || len(two) < minSecret || len(one)+len(two)+len(text) > 4<<10 || size == 0 || strings.ContainsAny(one+two, "<>") {
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
		if !utf8.ValidString(text + one) {
			return
		}
		for name, spelling := range spellings(text+one+text, rand.New(rand.NewPCG(uint64(size), 0))) {
			if got := redacted(r, spelling); !strings.Contains(got, redact.Mark) {
				t.Errorf("%s of %q keeps %q: %q", name, text, one, got)
			}
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	r := NewRedactor([]string{"s3cr\"t/va+lue-of-40-characters-and-more!", "ghp_0123456789abcdefghijABCDEFGHIJ012345"})
	for name, text := range map[string]string{"text": "The quick brown fox jumps over the lazy dog, s3 and all.\n", "hex": "73337334abcdef0123456789", "escapes": "\\u0073\\u0033%73%33"} {
		all := []byte(strings.Repeat(text, 1<<20/len(text)))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(all)))
			for b.Loop() {
				w := bounded{of: r, max: 1 << 20}
				_, _ = w.Write(all)
				w.finish()
			}
		})
	}
}
