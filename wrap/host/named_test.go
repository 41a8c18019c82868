package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// namedIn returns the programs that the settings files of a directory name, each with the
// naming file.
func namedIn(t *testing.T, files map[string]string, prepare func(dir string, s *gitSearch)) (map[string]string, *gitSearch) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := &gitSearch{p: &secretSearch{mountTable: &mountTable{prober: &prober{root: "/"}}}}
	s.addTree(dir)
	if prepare != nil {
		prepare(dir, s)
	}
	s.protectInTree(dir)
	named := map[string]string{}
	for _, p := range s.items {
		if p.By != "" {
			named[relative(p.Path, dir)] = p.By
		}
	}
	return named, s
}

func TestNamedPrograms(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		prepare func(dir string, s *gitSearch)
		want    map[string]string
	}{
		"from the top, and from its own directory": {
			files: map[string]string{".cursor/mcp.json": `["a", "b", "c"]`, "a": "", ".cursor/b": "", "b": "", "d": ""},
			want:  map[string]string{"a": ".cursor/mcp.json", "b": ".cursor/mcp.json", ".cursor/b": ".cursor/mcp.json"},
		},
		"from a directory that it names": {
			files: map[string]string{".mcp.json": `["in/x.py", "y.py", "tools/in"]`, "tools/in/y.py": "", "tools/in/in/x.py": "", "y.py": ""},
			want:  map[string]string{"tools/in/y.py": ".mcp.json", "tools/in/in/x.py": ".mcp.json", "y.py": ".mcp.json"},
		},
		"behind a variable, and after cd": {
			files: map[string]string{
				".mcp.json": `["$ROOT/a/x", "python3 $A/a/y", "cd $B/c && ./z"]`, "a/x": "", "a/y": "", "c/z": "",
				".envrc": "source_env $PWD/a/e\n", "a/e": "", ".husky/pre-commit": "cd d && ./h\n", "d/h": "",
			},
			want: map[string]string{"a/x": ".mcp.json", "a/y": ".mcp.json", "c/z": ".mcp.json", "a/e": ".envrc", "d/h": ".husky/pre-commit"},
		},
		"no operands that nothing runs": {
			files: map[string]string{
				".mcp.json":             `{"a": {"command": "npx", "args": ["-p", "tsconfig.json", "./run"]}, "b": {"command": "node", "args": ["b.js"]}}`,
				".claude/settings.json": `{"hooks": [{"command": "npx tsc -p tsconfig.json; jq -r .name package.json; make -f Makefile src/app.ts"}]}`,
				"tsconfig.json":         "", "package.json": "", "Makefile": "", "src/app.ts": "", "run": "#!/bin/sh\n", "b.js": "",
			},
			want: map[string]string{"run": ".mcp.json", "b.js": ".mcp.json"},
		},
		"not what the document opens": {
			files: map[string]string{".mcp.json": `["a", "b"]`, "a": "", "b": ""},
			prepare: func(dir string, s *gitSearch) {
				s.opened = []string{dir + "/a"}
			},
			want: map[string]string{"b": ".mcp.json"},
		},
		"not by settings that it opens": {
			files: map[string]string{".mcp.json": `["a"]`, "a": ""},
			prepare: func(dir string, s *gitSearch) {
				s.opened = []string{dir + "/.mcp.json"}
			},
			want: map[string]string{},
		},
		"through links, which are kept too": {
			files: map[string]string{".mcp.json": `["l", "out", "in/x"]`, "real/x": ""},
			prepare: func(dir string, _ *gitSearch) {
				os.Symlink("real/x", dir+"/l")
				os.Symlink("/bin/sh", dir+"/out")
				os.Symlink("real", dir+"/in")
			},
			want: map[string]string{"l": ".mcp.json", "real/x": ".mcp.json", "out": ".mcp.json", "in": ".mcp.json"},
		},
		"by a pattern in the middle": {
			files: map[string]string{".amazonq/cli-agents/x.json": `{"hooks": "a", "b": "b"}`, "a": "", "b": ""},
			want:  map[string]string{"a": ".amazonq/cli-agents/x.json"},
		},
		"nothing that is not a regular file": {
			files: map[string]string{".mcp.json": `["f", "d", "/dev/zero"]`, "d/x": ""},
			prepare: func(dir string, _ *gitSearch) {
				unix.Mkfifo(dir+"/f", 0o600)
				os.Mkdir(dir+"/.husky", 0o755)
				unix.Mkfifo(dir+"/.husky/pre-commit", 0o600)
			},
			want: map[string]string{},
		},
		"by what can be executed, or says what runs it": {
			files: map[string]string{".envrc": "x a/exec a/bang a/none\n", "a/exec": "", "a/bang": "#!/bin/sh\n", "a/none": ""},
			prepare: func(dir string, _ *gitSearch) {
				os.Chmod(dir+"/a/exec", 0o755)
			},
			want: map[string]string{"a/exec": ".envrc", "a/bang": ".envrc"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, s := namedIn(t, c.files, c.prepare)
			if len(got) != len(c.want) || s.programs.partial != "" {
				t.Errorf("got %q, not %q; %s", got, c.want, s.programs.partial)
			}
			for path, by := range c.want {
				if got[path] != by {
					t.Errorf("%s is named by %q, not %q", path, got[path], by)
				}
			}
		})
	}
}

// Each limit is reported when it is reached, and everything before it is protected.
func TestNamedProgramsAreBounded(t *testing.T) {
	many := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String()
	}
	programs := map[string]string{".mcp.json": "[" + many(maxPrograms+1, func(i int) string { return `"p` + itoa(i) + `",` }) + "]"}
	for i := range maxPrograms + 1 {
		programs["p"+itoa(i)] = ""
	}
	settings := map[string]string{"a": ""}
	for i := range maxSettings + 1 {
		settings[".continue/mcpServers/"+itoa(i)] = "command: a\n"
	}
	for short, files := range map[string]map[string]string{
		"name more than":    programs,
		"files name some":   settings,
		"words in the file": {".mcp.json": `["a",` + many(maxProgramWords, func(i int) string { return `"-x",` + `"w",` }) + "]", "a": ""},
		"larger than":       {".mcp.json": `["b"]` + strings.Repeat(" ", maxSettingsBytes), ".cursor/mcp.json": `["a"]`, "a": ""},
	} {
		got, s := namedIn(t, files, nil)
		if !strings.Contains(s.programs.partial, short) {
			t.Errorf("it says %q and not %q", s.programs.partial, short)
		}
		if len(got) == 0 || len(got) > maxPrograms {
			t.Errorf("%s: %d programs", short, len(got))
		}
	}
	binary := map[string]string{".husky/pre-commit": "\x7fELF\x00" + strings.Repeat("x", maxSettingsBytes)}
	if got, s := namedIn(t, binary, nil); len(got) != 0 || s.programs.partial != "" {
		t.Errorf("of a hook that is no text: %q, %s", got, s.programs.partial)
	}
}

// If the document makes a hook writable, the programs that it runs are not protected.
func TestHooksThatAreOpened(t *testing.T) {
	for _, opened := range []bool{false, true} {
		_, s := namedIn(t, map[string]string{".git/hooks/pre-commit": "sh x\n", "x": ""}, nil)
		dir := s.trees[0]
		if opened {
			s.opened = []string{dir + "/.git"}
		}
		s.protectHooks(dir+"/.git/hooks", dir)
		found := false
		for _, p := range s.items {
			found = found || p.Path == dir+"/x" && p.Kind == wrap.File && p.By == ".git/hooks/pre-commit"
		}
		if found == opened {
			t.Errorf("opened %v: %v", opened, s.items)
		}
	}
}
