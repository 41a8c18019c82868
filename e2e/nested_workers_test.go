package e2e

import (
	"os"
	"strings"
	"testing"
)

// A worker that a running worker starts is restricted by its own file, together with its workshop's
// file or with what the outer sandbox leaves of the workshop. Without restrictions of its own it
// runs under the outer sandbox.
func TestWorkerInAWorker(t *testing.T) {
	b := newShopOf(t, "sandbox: {root: .}\n")
	for name, front := range map[string]string{"src": "restrict: /src", "away": "restrict: /../out"} {
		b.write("ws/workers/"+name+".worker", "---\nsandbox: {"+front+"}\n---\nThe prompt.\n")
	}
	sbx, err := os.ReadFile(sbxPath)
	must(t, err)
	for _, see := range []string{b.ws + "/see", b.ws + "/src/see"} { // the paths that a restricted worker has in view
		must(t, os.CopyFS(see+"/workers", os.DirFS(b.ws+"/workers")))
		must(t, os.WriteFile(see+"/sbx", sbx, 0o755))
	}
	b.env = append(b.env, "WS="+b.ws, "OUT="+b.out)
	for _, row := range []struct {
		outer, inner string
		shop         bool   // the inner one also gets the workshop's file
		want         string // the inner script's output; "" if it is refused
		field        string // whose line is degraded, or which is refused
	}{
		{"editor", "editor", false, "/ part page written", ""},
		{"editor", "editor", true, "/ part page written", ""},
		{"editor", "reader", false, "/ part page", "readonly"},
		{"editor", "reader", true, "/ part page", "readonly"},
		{"editor", "src", false, "/src part written", "restrict"},
		{"editor", "src", true, "/src part written", "restrict"},
		{"editor", "analyzer", false, "/src part", "restrict"},
		{"src", "editor", false, "/src part written", ""},
		{"src", "lib", false, "/src/lib part", "restrict"},
		{"src", "reader", false, "/src part", "readonly"},
		{"reader", "editor", false, "/ part page", ""},
		{"reader", "writer", false, "", "readonly"},
		{"editor", "away", false, "", "restrict"},
	} {
		name := row.outer + " calls " + row.inner
		see := b.ws + "/see"
		if row.outer == "src" {
			see = b.ws + "/src/see"
		}
		inner := see + `/sbx exec --effective ` + b.ws + `/src/inner.json `
		if row.outer == "reader" { // which may write nothing
			inner = see + `/sbx exec --effective /tmp/inner.json `
		}
		if row.shop {
			inner += "--workshop " + b.ws + "/workshop.yaml "
		}
		inner += "--worker " + see + "/workers/" + row.inner + `.worker -- /bin/sh -c '` + look + `'; echo "status $?"; echo end`
		r := b.work(inner, row.outer).ended()
		rec, _ := readRecord(b.ws + "/src/inner.json")
		os.Remove(b.ws + "/src/inner.json")
		got := strings.TrimSuffix(strings.Join(strings.Fields(r.out), " "), " end")
		if b.wrote() {
			got = strings.Replace(got, " end", " written end", 1)
		}
		want := strings.Replace(strings.Replace(row.want, "/", b.ws+"/", 1), "/ ", " ", 1) + " end status 0"
		warned := strings.Contains(r.err, "warning: ")
		if row.want == "" {
			if got != "status 125" || !strings.Contains(r.err, "sbx: "+row.field+" (") {
				t.Errorf("%s is not refused for %s: %v", name, row.field, r)
			}
			continue
		}
		if got != want || warned != (row.field != "") {
			t.Errorf("%s: got %q, want %q: %v", name, got, want, r)
		}
		if row.field != "" && (rec.status(row.field) != "degraded" || !strings.Contains(rec["warnings"].([]any)[0].(string), "/"+row.inner+".worker:")) {
			t.Errorf("%s: %s is %s; %v", name, row.field, rec.status(row.field), rec["warnings"])
		}
	}
}
