package dispatch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sbx/spec"
)

func backups(t testing.TB, path string) []string {
	t.Helper()
	list, err := filepath.Glob(path + ".sbx-backup-*")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Each version is migrated correctly, at the first opening and never again.
func TestForeignDatabases(t *testing.T) {
	for _, c := range []struct {
		version, then int
		changed       bool
	}{{2, 2, true}, {5, 5, true}, {11, 11, true}, {16, 16, true}, {17, 18, true}, {18, 18, false}, {20, 20, false}, {currentForeign, currentForeign, false}} {
		t.Run(fmt.Sprint(c.version), func(t *testing.T) {
			path := foreign(t, c.version)
			if err := os.Chmod(path, 0o640); err != nil {
				t.Fatal(err)
			}
			before := dump(t, path)
			for range 2 {
				l := open(t, path)
				if l.Own() {
					t.Error("it is taken for one of our own")
				}
				if got := one(t, path, "PRAGMA user_version"); got != int64(c.then) {
					t.Errorf("version %v, want %d", got, c.then)
				}
				old, err := l.Get("old1")
				if err != nil || old.SandboxSpec.Set || old.SandboxEffective.Set || old.Sandbox.Value != "workspace-write" {
					t.Errorf("the old row is %+v, %v", old, err)
				}
				l.Close()
			}
			kept := backups(t, path)
			if c.changed != (len(kept) == 1) {
				t.Fatalf("copies: %v", kept)
			}
			if !c.changed {
				if after := dump(t, path); after != before {
					t.Errorf("it was changed:\n%s\n%s", before, after)
				}
				return
			}
			if got := dump(t, kept[0]); got != before {
				t.Errorf("the copy is another:\n%s\n%s", before, got)
			}
			if info, err := os.Stat(kept[0]); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("the copy's mode is %v, %v", info.Mode(), err)
			}
			if got := one(t, path, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'"); got != int64(0) {
				t.Error("a trigger in a foreign ledger")
			}
			if got := one(t, path, "SELECT group_concat(note) FROM runs"); got != "kept" {
				t.Errorf("another table has %v", got)
			}
		})
	}
}

// A column left by an interrupted migration is no error.
func TestHalfMigrated(t *testing.T) {
	path := foreign(t, 17)
	run(t, path, "ALTER TABLE dispatches ADD COLUMN sandbox_spec TEXT", "UPDATE dispatches SET sandbox_spec = '{}'")
	d, err := open(t, path).Get("old1")
	if err != nil || d.SandboxSpec.Value != "{}" {
		t.Errorf("%+v, %v", d, err)
	}
	if one(t, path, "PRAGMA user_version") != int64(18) {
		t.Error("its version stayed")
	}
}

// Many processes open an old database at the same time: one of them changes it, once.
func TestMigratedOnce(t *testing.T) {
	for _, version := range []int{0, 17} {
		path := filepath.Join(t.TempDir(), "new.db")
		if version > 0 {
			path = foreign(t, version)
		}
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				l, err := Open(Place{Path: path}, Write)
				if err != nil {
					t.Errorf("version %d: %v", version, err)
					return
				}
				defer l.Close()
				if err := l.Insert(&Dispatch{ID: fmt.Sprint("d", i), Status: Spawned, SandboxSpec: spec.Some("{}")}); err != nil {
					t.Errorf("version %d: %v", version, err)
				}
			})
		}
		all.Wait()
		if n := len(backups(t, path)); version > 0 && n != 1 || version == 0 && n != 0 {
			t.Errorf("version %d: %d copies", version, n)
		}
		if got := one(t, path, "SELECT count(*) FROM dispatches WHERE id LIKE 'd%'"); got != int64(16) {
			t.Errorf("version %d: %v rows", version, got)
		}
	}
}

func TestRefusedDatabases(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	without := func(version, drop string) string {
		path := foreign(t, 20)
		run(t, path, "ALTER TABLE dispatches DROP COLUMN "+drop, "PRAGMA user_version = "+version)
		return path
	}
	noTable := filepath.Join(dir, "other.db")
	run(t, noTable, "CREATE TABLE notes (a)", "PRAGMA user_version = 20")
	view := filepath.Join(dir, "view.db")
	run(t, view, "CREATE VIEW dispatches AS SELECT 1 AS id", "PRAGMA user_version = 20")
	old := foreign(t, 2)
	run(t, old, "PRAGMA user_version = 1")
	newer := own(t).Path()
	run(t, newer, "PRAGMA user_version = 2")
	pipe := filepath.Join(dir, "folder")
	if err := os.Mkdir(pipe, 0o700); err != nil {
		t.Fatal(err)
	}
	dangling := filepath.Join(dir, "dangling.db")
	if err := os.Symlink("nowhere.db", dangling); err != nil {
		t.Fatal(err)
	}
	torn := file("torn.db", "")
	whole, err := os.ReadFile(foreign(t, 17))
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < len(whole); i++ {
		whole[i] = 0xa5
	}
	file("torn.db", string(whole))
	for _, c := range []struct {
		name, path, want string
		place            Place
	}{
		{"below 2", old, "its version is 1", Place{}},
		{"no dispatches", noTable, "no table dispatches", Place{}},
		{"a view", view, "no table dispatches", Place{}},
		{"18 without the spec", without("18", "sandbox_spec"), "no column sandbox_spec", Place{}},
		{"39 without the record", without("39", "sandbox_effective"), "no column sandbox_effective", Place{}},
		{"no output_file", without("20", "output_file"), "no column output_file", Place{}},
		{"our own, newer", newer, "its version is 2, and this program knows 1", Place{}},
		{"no database", file("text.db", strings.Repeat("no database ", 100)), "not an SQLite database", Place{}},
		{"damaged", torn, "damaged", Place{}},
		{"a directory", pipe, "not a regular file", Place{}},
		{"a link to nothing", dangling, "a link that leads nowhere", Place{}},
		{"empty, in a project", file("empty.db", ""), "there is nothing in it", Place{Found: true}},
		{"no directory", filepath.Join(dir, "no", "such.db"), "its directory must be there", Place{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, _ := os.ReadFile(c.path)
			at := c.place
			at.Path = c.path
			l, err := Open(at, Write)
			if err == nil {
				l.Close()
				t.Fatal("it was opened")
			}
			p, ok := err.(*spec.Problem)
			if !ok || p.Help == "" || !strings.Contains(p.Error()+p.Help, c.want) {
				t.Errorf("%v, want %q and a hint", err, c.want)
			}
			if after, _ := os.ReadFile(c.path); string(after) != string(before) {
				t.Error("the file was changed")
			}
			if n := backups(t, c.path); len(n) > 0 {
				t.Errorf("copies: %v", n)
			}
		})
	}
}

// Reading changes nothing in a file, old or new.
func TestReadingChangesNothing(t *testing.T) {
	for _, version := range []int{2, 17, 20} {
		path := foreign(t, version)
		before, _ := os.ReadFile(path)
		l, err := Open(Place{Path: path}, Read)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := l.List(Filter{}); err != nil || len(list) != 1 {
			t.Errorf("version %d: %v, %v", version, list, err)
		}
		l.Close()
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("version %d was changed", version)
		}
	}
	if _, err := Open(Place{Path: filepath.Join(t.TempDir(), "none.db")}, Read); err == nil {
		t.Error("a missing file can be read")
	}
}
