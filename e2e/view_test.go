package e2e

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestViewIsWhatAProbeFinds compares the files in `sbx check` with what a probe in the sandbox can
// do: it can read and write exactly what the list says.
func TestViewIsWhatAProbeFinds(t *testing.T) {
	needSandbox(t)
	root := elsewhere
	if root == "" {
		lacks(t, "there is no directory that no private directory covers (SBX_TEST_ELSEWHERE)")
	}
	w := newPairWorld(t, root)
	const documents = 40
	agreed := 0
	for seed := uint64(1000); seed < 1000+documents && w.wrong < 5; seed++ {
		m := &pairMaker{rand.New(rand.NewPCG(seed, 7)), w.base}
		doc := m.document(false)
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		said := w.finish(w.fenced(ctx, append([]string{sbxPath, "check", "--json", "--spec-json", doc, "--"}, w.reacher(seed)...)...))
		found := w.finish(w.fenced(ctx, append([]string{sbxPath, "exec", "-q", "--effective", w.base + "/state/pair.json", "--spec-json", doc, "--"}, w.reacher(seed)...)...))
		cancel()
		if said.code != 0 || lastLine(found.out) != "end" {
			if said.code == 0 && found.code == 0 {
				t.Fatalf("%s\n%v", doc, found)
			}
			continue
		}
		var list viewed
		must(t, json.Unmarshal([]byte(said.out), &list))
		if list.Plan.Base == "host" {
			continue // nothing is mounted, and nothing listed
		}
		agreed++
		w.holdView(doc, &list, found.out)
	}
	if agreed < documents/4 {
		t.Errorf("of %d documents %d give a sandbox: the test tests nothing", documents, agreed)
	}
}

// viewed is the part of `sbx check --json` about files.
type viewed struct {
	Plan  struct{ Base string }
	Files []place
}

type place struct {
	Path, Access, Source, Because string
	Kept, Protected               bool
}

// at returns the place that applies to path, as the documentation of the output says: the longest
// one above it, or itself.
func (v *viewed) at(path string) (best place) {
	for _, p := range v.Files {
		if (p.Path == "/" || path == p.Path || strings.HasPrefix(path, p.Path+"/")) && len(p.Path) >= len(best.Path) {
			best = p
		}
	}
	if best.Source != "" {
		best.Source = filepath.Clean(best.Source + "/" + strings.TrimPrefix(path, best.Path))
	}
	return best
}

// holdView compares the two for each path that has no link in it.
func (w *pairWorld) holdView(doc string, v *viewed, out string) {
	can := map[string]string{}
	for l := range strings.Lines(out) {
		if f := strings.Split(strings.TrimSpace(l), "\t"); len(f) == 3 {
			can[f[0]+" "+f[1]] = f[2]
		}
	}
	text, err := os.ReadFile(w.list)
	must(w.t, err)
	for path := range strings.Lines(string(text)) {
		path = strings.TrimSpace(path)
		p := v.at(path)
		if hasLink(path) || p.Source != "" && hasLink(p.Source) {
			continue
		}
		info, err := os.Lstat(p.Source)
		there := p.Source != "" && err == nil
		readable := there && info.Mode().IsRegular() && (p.Access == "read-only" || p.Access == "writable")
		read, does := can["read "+path]
		switch {
		case readable != does && !(p.Source == "" && p.Access == "writable"): // the sandbox's own files there are not listed
			w.differs(doc, path, p, "read: "+read)
		case readable && read != "text of "+strings.TrimPrefix(p.Source, w.base+"/"):
			w.differs(doc, path, p, "another file: "+read)
		}
		writable := there && p.Access == "writable" && p.Kept && !info.Mode().IsDir() && info.Mode().IsRegular()
		if _, does := can["write "+path]; writable != does && !(p.Source == "" && p.Access == "writable") {
			w.differs(doc, path, p, "write")
		}
		made := there && p.Access == "writable" && p.Kept && info.IsDir()
		if _, does := can["make "+path]; made != does && !(p.Access == "writable" && !p.Kept) {
			w.differs(doc, path, p, "make")
		}
	}
}

func (w *pairWorld) differs(doc, path string, p place, what string) {
	w.t.Helper()
	w.wrong++
	w.t.Errorf("%s", strings.ReplaceAll(doc+"\n"+path+": "+what+"; the list says "+p.Access+" "+p.Source+" because of "+p.Because, w.base, "TREE"))
}

// hasLink reports whether a path of the host has a link in it.
func hasLink(path string) bool {
	for dir := path; dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
