package profile

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sbx/spec"
)

func design(t *testing.T) *Row {
	t.Helper()
	return Builtin().row("design")
}

func TestPrepare(t *testing.T) {
	w := world{"/p/README.md": "", "/p/a/b.md": "", "/p/a/b.txt": "", "/p/.claude/agents/x.md": "", "/p/node_modules/y/z.md": "",
		"/p/link.md": "-> /etc/passwd", "/p/out": "-> /etc", "/etc/q.md": "", "/p/docs/plan.md": "", "/p/odd*.md": "", "/p/.notes.md": ""}
	f, err := design(t).Prepare("/p", w, w, LeaveOut)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.Files, " "); got != "/p/.notes.md /p/README.md /p/a/b.md" || f.Odd != 1 || f.Cut != "" {
		t.Errorf("%+v", f)
	}
	if strings.Join(f.Lacks, " ") != "design" || f.Made != nil || w["/p/design"] != "" {
		t.Errorf("%+v", f)
	}
	f, err = design(t).Prepare("/p", w, w, MakeIt)
	if err != nil || strings.Join(f.Made, " ") != "/p/design" || f.Lacks != nil || w["/p/design"] != folder {
		t.Errorf("%+v %v", f, err)
	}
	fs := design(t).SpecsAt("/p", f)[0].Filesystem.Value
	if got := strings.Join(fs.Write.Value, " "); got != "/p/docs /p/design /p/.notes.md /p/README.md /p/a/b.md" {
		t.Error(got)
	}
	if f, err := Builtin().row("read-only").Prepare("/p", w, nil, MakeIt); err != nil || len(f.Files) != 0 {
		t.Errorf("%+v %v", f, err)
	}
}

// A directory that the profile writes must not lead out of the project.
func TestPrepareRefusesAWayOut(t *testing.T) {
	w := world{"/p/docs": "-> /home/u", "/home/u": folder, "/p/design": folder}
	_, err := design(t).Prepare("/p", w, w, MakeIt)
	if err == nil || !strings.Contains(err.Error(), "it leads out of the project, to /home/u") {
		t.Error(err)
	}
	w["/p/docs"] = "-> /p/design" // another directory of the project
	if f, err := design(t).Prepare("/p", w, w, MakeIt); err != nil || f.Made != nil {
		t.Error(f, err)
	}
	if f, err := design(t).Prepare("/", world{"/docs": folder, "/design": "-> /docs"}, w, LeaveOut); err != nil || f.Lacks != nil {
		t.Error(f, err)
	}
	w["/p/docs"] = "-> /nowhere"
	f, err := design(t).Prepare("/p", w, Host{}, LeaveOut)
	if err != nil || len(f.Lacks) != 1 {
		t.Error(f, err)
	}
}

// The search is bounded, and says which bound ended it.
func TestSearchIsBounded(t *testing.T) {
	many := world{"/p": folder}
	for i := range maxFiles + 1 {
		many["/p/"+strconv.Itoa(i)+".md"] = ""
	}
	deep := world{"/p" + strings.Repeat("/d", maxDepth) + "/in.md": "", "/p" + strings.Repeat("/d", maxDepth+1) + "/out.md": ""}
	for _, c := range []struct {
		cut  string
		host Lister
	}{{"more than 256 files", many}, {"more than 8 directories deep", deep}, {"more than 4096 directories", wide{}}} {
		var f Found
		search{host: c.host, ends: []string{"*.md"}}.run("/p", &f)
		if f.Cut != c.cut || len(f.Files) > maxFiles {
			t.Errorf("%s: %s, %d files", c.cut, f.Cut, len(f.Files))
		}
		if c.cut == "more than 8 directories deep" && strings.Join(f.Files, " ") != "/p"+strings.Repeat("/d", maxDepth)+"/in.md" {
			t.Error(f.Files)
		}
	}
}

// wide is a directory with very many empty ones.
type wide struct{ Host }

func (wide) List(dir string) ([]Entry, error) {
	if dir != "/p" {
		return nil, nil
	}
	var all []Entry
	for i := range maxDirs + 1 {
		all = append(all, Entry{Name: strconv.Itoa(i), Kind: Dir})
	}
	return all, nil
}

func TestNotes(t *testing.T) {
	if (Found{Files: []string{"/p/a.md"}}).Notes() != nil {
		t.Error("a note of nothing")
	}
	f := Found{Made: []string{"/p/docs"}, Lacks: []string{"design"}, Cut: "too many", Odd: 1}
	if got := strings.Join(f.Notes(), "; "); got != "/p/docs was made; design is missing, and is made when a command starts under the profile; "+
		"the search for files that exist ended early: too many; files with * or ? in their paths stay read-only" {
		t.Error(got)
	}
}

// The host's own directories are listed as they are.
func TestHost(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.md", strings.Repeat("n", 250), "ü b.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a.md", filepath.Join(dir, "l.md")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "f.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (Host{}).Mkdir(dir + "/docs"); err != nil {
		t.Fatal(err)
	}
	list, err := Host{}.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]Kind{}
	for _, e := range list {
		kinds[e.Name] = e.Kind
	}
	if len(kinds) != 6 || kinds["a.md"] != File || kinds["ü b.md"] != File || kinds["l.md"] != Other || kinds["f.md"] != Other || kinds["docs"] != Dir {
		t.Errorf("%v", kinds)
	}
	if kindOf(syscall.DT_UNKNOWN, dir+"/docs") != Dir || kindOf(syscall.DT_UNKNOWN, dir+"/a.md") != File || kindOf(syscall.DT_UNKNOWN, dir+"/x") != Other {
		t.Error("kinds by stat")
	}
	if err := os.Symlink(dir, dir+"/docs/up"); err != nil {
		t.Fatal(err)
	}
	if _, err := (Host{}).List(dir + "/docs/up"); err == nil {
		t.Error("a link was followed")
	}
	f, err := Builtin().row("design").Prepare(dir, spec.HostPaths{}, Host{}, MakeIt)
	if err != nil || len(f.Files) != 2 || len(f.Made) != 1 {
		t.Errorf("%+v %v", f, err)
	}
}

// To list many names takes more than one call.
func TestHostLongListing(t *testing.T) {
	dir := t.TempDir()
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(dir, strings.Repeat("n", 240)+strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := Host{}.List(dir)
	if err != nil || len(list) != 200 {
		t.Errorf("%d %v", len(list), err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/a", []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, found, err := Read(dir + "/a"); string(text) != "text" || !found || err != nil {
		t.Error(text, found, err)
	}
	for _, p := range []string{"/none", "/a/b"} {
		if _, found, err := Read(dir + p); found || err != nil {
			t.Error(p, found, err)
		}
	}
	if err := syscall.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"/fifo", ""} {
		if _, _, err := Read(dir + p); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Error(p, err)
		}
	}
}
