package audit

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/dirs/dirstest"
)

func artifactsOf(t *testing.T, dir string) ([]Artifact, int) {
	t.Helper()
	fd, err := dirs.OpenRealDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	list, omitted, err := Artifacts(fd)
	if err != nil {
		t.Fatal(err)
	}
	return list, omitted
}

func TestArtifacts(t *testing.T) {
	dirstest.NoLeak(t)
	dir := dirstest.Temp(t)
	dirstest.Plant(t, dir, "b/c", "a", "b.txt", "z/", "odd\n\xffname")
	if err := unix.Chmod(dir+"/a", 0o4711); err != nil {
		t.Fatal(err)
	}
	dirstest.Plant(t, dirstest.Temp(t), "outside")
	for from, to := range map[string]string{"link": "a", "up": "..", "passwd": "/etc/passwd", "loop": "loop", "folder": "b"} {
		if err := os.Symlink(to, dir+"/"+from); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(dir+"/fifo", 0o644); err != nil {
		t.Fatal(err)
	}
	sum := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	want := []Artifact{
		{"a", 1, sum("a"), 0o4711}, {"b.txt", 5, sum("b.txt"), 0o644}, {"b/c", 3, sum("b/c"), 0o644},
		{"odd\n\xffname", 9, sum("odd\n\xffname"), 0o644},
	}
	done := make(chan struct{})
	go func() { // opening a FIFO would wait for ever
		defer close(done)
		if list, omitted := artifactsOf(t, dir); !reflect.DeepEqual(list, want) || omitted != 0 {
			t.Errorf("got %+v, %d omitted", list, omitted)
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it hangs")
	}
}

func TestArtifactsBounds(t *testing.T) {
	dirstest.NoLeak(t)
	dir := dirstest.Temp(t)
	for i := range maxArtifacts + 50 {
		dirstest.Plant(t, dir, fmt.Sprintf("d/%05d", i))
	}
	deep := "e" + strings.Repeat("/e", maxArtifactDepth+10) + "/f"
	dirstest.Plant(t, dir, deep, "f")
	list, omitted := artifactsOf(t, dir)
	if len(list) != maxArtifacts || omitted != 50+1+1 {
		t.Errorf("%d listed, %d omitted", len(list), omitted)
	}
	// A file of enormous size that takes no space is listed, but not read.
	big := dirstest.Temp(t)
	dirstest.Plant(t, big, "sparse", "small")
	if err := os.Truncate(big+"/sparse", maxArtifactHashed+1); err != nil {
		t.Skip(err) // the file system supports no such files
	}
	list, _ = artifactsOf(t, big)
	if len(list) != 2 || list[1].SHA256 != "" || list[1].Size != maxArtifactHashed+1 || list[0].SHA256 == "" {
		t.Errorf("%+v", list)
	}
}

func TestArtifactsUnreadable(t *testing.T) {
	dirstest.AsUser(t)
	dir := dirstest.Temp(t)
	dirstest.Plant(t, dir, "closed/x", "file")
	for p, mode := range map[string]os.FileMode{"closed": 0, "file": 0} {
		if err := os.Chmod(dir+"/"+p, mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(dir+"/closed", 0o700)
	list, omitted := artifactsOf(t, dir)
	if len(list) != 1 || list[0].SHA256 != "" || list[0].Size != 4 || omitted != 1 {
		t.Errorf("%+v, %d omitted", list, omitted)
	}
}

func TestArtifactsOfNoDir(t *testing.T) {
	if _, _, err := Artifacts(-1); err == nil {
		t.Error("a closed descriptor is a directory")
	}
}

// Holes cost nothing to make, but as much to read as data.
func TestArtifactsWithHoles(t *testing.T) {
	dir := dirstest.Temp(t)
	for name, size := range map[string]int64{"a": 1 << 20, "b": 1 << 32, "c": 1 << 20} {
		if err := os.WriteFile(dir+"/"+name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(dir+"/"+name, size); err != nil {
			t.Fatal(err)
		}
	}
	fd, err := dirs.OpenRealDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	list, omitted, err := Artifacts(fd)
	if err != nil || omitted != 0 || len(list) != 3 {
		t.Fatalf("%+v, %d, %v", list, omitted, err)
	}
	b := make([]byte, 1<<20)
	b[0] = 'x'
	if want := fmt.Sprintf("%x", sha256.Sum256(b)); list[0].SHA256 != want || list[1].SHA256 != "" || list[1].Size != 1<<32 || list[2].SHA256 != want {
		t.Errorf("%+v, want %s", list, want)
	}
}

// TestArtifactsProperty compares the walk with filepath.WalkDir.
func TestArtifactsProperty(t *testing.T) {
	for seed := range 20 {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		dir := dirstest.Temp(t)
		dirstest.Grow(t, rng, dir, 60)
		var want []Artifact
		for rel, mode := range dirstest.Standing(t, dir) {
			if !mode.IsRegular() {
				continue
			}
			b, err := os.ReadFile(dir + "/" + rel)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, Artifact{rel, int64(len(b)), fmt.Sprintf("%x", sha256.Sum256(b)), 0o644})
		}
		slices.SortFunc(want, func(a, b Artifact) int { return strings.Compare(a.Path, b.Path) })
		got, omitted := artifactsOf(t, dir)
		if !reflect.DeepEqual(got, want) || omitted != 0 {
			t.Fatalf("seed %d: got %+v, want %+v", seed, got, want)
		}
	}
}
