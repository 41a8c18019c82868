package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRedactProperty checks that a secret does not show in any place where people put one, whatever
// stands around it.
func TestRedactProperty(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	plainWords := []string{"make", "-j8", "all", "--verbose", "./x", "https://example.com/a?b=c", "name=value", "sh", "-c", "--", "{}", "a b"}
	places := []func(s string) []string{
		func(s string) []string { return []string{"--token", s} },
		func(s string) []string { return []string{"--password=" + s} },
		func(s string) []string { return []string{"MY_API_KEY=" + s} },
		func(s string) []string { return []string{"-H", "Authorization: Bearer " + s} },
		func(s string) []string { return []string{"-H", "X-Auth-Token: " + s} },
		func(s string) []string { return []string{"https://user:" + s + "@host/path"} },
		func(s string) []string { return []string{"postgres://u:" + s + "@db:5432/x?sslmode=off"} },
		func(s string) []string { return []string{"https://host/x?access_token=" + s + "&n=1"} },
		func(s string) []string { return []string{`{"user": "me", "client_secret": "` + s + `"}`} },
		func(s string) []string { return []string{"sh", "-c", "export DB_PASSWORD=" + s + "; run"} },
		func(s string) []string { return []string{"sh", "-c", "run --secret '" + s + "' now"} },
		func(s string) []string { return []string{"mysql", "-p" + s} },
		func(s string) []string { return []string{"curl", "-u", "me:" + s} },
		func(s string) []string { return []string{"ghp_" + s} },
		func(s string) []string { return []string{"--header=Cookie: session=" + s} },
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	for range 5000 {
		secret := make([]byte, 20)
		for i := range secret {
			secret[i] = letters[rng.IntN(len(letters))]
		}
		argv := []string{"prog"}
		for range rng.IntN(4) {
			argv = append(argv, plainWords[rng.IntN(len(plainWords))])
		}
		argv = append(argv, places[rng.IntN(len(places))](string(secret))...)
		for range rng.IntN(4) {
			argv = append(argv, plainWords[rng.IntN(len(plainWords))])
		}
		if got := strings.Join(Args(argv), " "); strings.Contains(got, string(secret)) || !strings.Contains(got, Mark) {
			t.Fatalf("%q\nbecame %q", argv, got)
		}
	}
}
