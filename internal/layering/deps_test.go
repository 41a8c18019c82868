package layering

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/deps.txt anew")

// maxDeps bounds the number of other modules' packages behind cmd/sbx, the standard library's
// internal ones included: each costs time at every start.
const maxDeps = 101

// unaffordable are packages that the start of a sandbox must not need, with the reason. A name that
// ends in a slash stands for all packages under it.
var unaffordable = map[string]string{
	"C":                               "the binary is static",
	"net":                             "650 us of start-up with net/http, and cgo's resolver",
	"net/":                            "650 us of start-up",
	"os/exec":                         "wrap/launch starts processes",
	"os/user":                         "cgo, and the password file is read by wrap/host",
	"encoding/json":                   "up to 110 us; internal/doc reads and writes, by jsontext",
	"encoding/gob":                    "reflection",
	"encoding/xml":                    "reflection",
	"regexp":                          "compiles at start",
	"text/template":                   "reflection, and the linker keeps every method for it",
	"html/template":                   "as text/template",
	"database/sql":                    "sbx-dispatch's",
	"log":                             "cmd/sbx alone prints",
	"log/":                            "as log",
	"testing":                         "test code in the program",
	"plugin":                          "needs cgo",
	"crypto/tls":                      "650 us with net/http",
	"go/":                             "a compiler in the program",
	"modernc.org/":                    "sbx-dispatch's",
	"github.com/opencontainers/runc/": "sbx-oci's",
}

func TestStartIsAffordable(t *testing.T) {
	deps := hotPath(t)
	for _, d := range deps {
		if why, bad := forbidden(d); bad {
			t.Errorf("cmd/sbx depends on %s: %s", d, why)
		}
	}
	if n := len(slices.DeleteFunc(slices.Clone(deps), isOwn)); n > maxDeps {
		t.Errorf("cmd/sbx depends on %d packages of others, more than %d", n, maxDeps)
	}
	got := golden(deps)
	path := filepath.Join("testdata", "deps.txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != got {
		t.Errorf("the packages behind cmd/sbx changed:\n%s\nmeasure the start, then go test ./internal/layering -update", difference(string(b), got))
	}
}

func isOwn(dep string) bool { return strings.HasPrefix(dep, "sbx/") }

func forbidden(dep string) (string, bool) {
	if why, ok := unaffordable[dep]; ok {
		return why, true
	}
	for prefix, why := range unaffordable {
		if strings.HasSuffix(prefix, "/") && strings.HasPrefix(dep, prefix) {
			return why, true
		}
	}
	return "", false
}

func TestForbiddenSeesWhatItForbids(t *testing.T) {
	for _, bad := range []string{"net", "net/netip", "log", "log/slog", "regexp", "encoding/json"} {
		if _, ok := forbidden(bad); !ok {
			t.Errorf("%s passes", bad)
		}
	}
	for _, good := range []string{"os", "internal/itoa", "strings", "network", "sbx/spec"} {
		if why, ok := forbidden(good); ok {
			t.Errorf("%s is refused: %s", good, why)
		}
	}
}

// hotPath lists the packages behind cmd/sbx, itself included.
func hotPath(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-tags", "urfave_cli_no_docs", "./cmd/sbx")
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.Fields(string(out))
}

// golden returns the list in the form that is kept: without the internal packages of the standard
// library, which change between versions of Go.
func golden(deps []string) string {
	var kept []string
	for _, d := range deps {
		if d == "internal" || strings.HasPrefix(d, "internal/") || strings.Contains(d, "/internal/") || strings.HasPrefix(d, "vendor/") {
			if !strings.HasPrefix(d, "sbx/") {
				continue
			}
		}
		kept = append(kept, d)
	}
	sort.Strings(kept)
	return strings.Join(kept, "\n") + "\n"
}

// difference returns the entries that one list has and the other lacks.
func difference(old, new string) string {
	var b strings.Builder
	show := func(mark, from, to string) {
		have := map[string]bool{}
		for _, d := range strings.Fields(to) {
			have[d] = true
		}
		for _, d := range strings.Fields(from) {
			if !have[d] {
				b.WriteString(mark + d + "\n")
			}
		}
	}
	show("- ", old, new)
	show("+ ", new, old)
	return b.String()
}
