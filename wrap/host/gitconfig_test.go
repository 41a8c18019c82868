package host

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// configs are texts that git and the parser must read alike.
var configs = []string{
	"",
	"\n\n# comment\n; comment\n",
	"[core]\n\tfsmonitor = ./run.sh\n",
	"[core]fsmonitor=x\n",
	"[core] fsmonitor = a ; comment\n",
	"[core]\n\thooksPath = \".git hooks\"\n",
	"[core]\n\thooksPath = a\\\n   b\n",
	"[core]\n\thooksPath = a   \\\n   b\n",
	"[core]\n\thooksPath = a\\",
	"[core]\n\tpager = \"a # b\" ; c\n",
	"[core]\n\tpager = a \"  \" b   # c\n",
	"[core]\n\tpager = a\\tb\\nc\\\"d\\\\e\\b\n",
	"[core]\n\tbare\n[core]\n\tbare = \n",
	"[CORE]\n\tHooksPath = X\n",
	"[include]\n\tpath = ../x\n[includeIf \"gitdir:~/w/\"]\n\tpath = ~/y\n",
	"[filter \"A \\\"b\\\" \\\\ c\"]\n\tclean = x %f\n",
	"[filter.LFS]\n\tclean = y\n",
	"[a.b \"c.d\"]\n\te = 1\n",
	"[core]\r\n\tpager = less\r\n",
	"\xef\xbb\xbf[core]\n\tpager = less\n",
	"[core]\n\tpager = less",
	"[remote \"origin\"]\n\turl = https://example.com/x#y\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
	// git refuses these
	"[core\n\tpager = x\n",
	"[core]\n\tpa_ger = x\n",
	"[core]\n\tpager = \"x\n",
	"[core]\n\tpager = \\q\n",
	"[core \"x]\n\ty = 1\n",
	"[core \"x\"y]\n\ty = 1\n",
	"[co re]\n\ty = 1\n",
	"[core]\n\t= x\n",
	"[core]\n\tpager x\n",
	"[core]\n\tpager\x00 = x\n",
	"[]\n\ty = 1\n",
	"[core]\n[]",
}

func TestParserReadsAsGitDoes(t *testing.T) {
	dir := t.TempDir()
	for _, text := range configs {
		compareWithGit(t, dir, text)
	}
}

// TestParserReadsRandomConfigsAsGitDoes builds random texts from pieces of the syntax. They
// contain no tab or lone carriage return inside a value: git before 2.45 replaced it by a
// space.
func TestParserReadsRandomConfigsAsGitDoes(t *testing.T) {
	pieces := []string{"[core]", "[a \"B\"]", "[a.B]", "[", "]", "\"", "\\", "\\\n", "\n", "\n", "\n", " ", "=", "=", "key", "Key2", "a-b",
		"value", "#", ";", "\\t", "\\n", "\\\"", "\r\n", "x y", "/p/q", "~", ".", "_", "é", "[x \"\\\\\"]"}
	n := 400
	if testing.Short() {
		n = 60
	}
	r := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	for range n {
		var b strings.Builder
		b.WriteString("[core]\n")
		for range 1 + r.IntN(14) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		compareWithGit(t, dir, b.String())
	}
}

func compareWithGit(t *testing.T, dir, text string) {
	t.Helper()
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(gitPath(t), "config", "--file", file, "--list", "-z")
	cmd.Env = gitEnv(dir)
	out, err := cmd.Output()
	var got []string
	ok := parseGitConfig(text, func(v gitVar) { got = append(got, v.String()) })
	if ok != (err == nil) {
		t.Errorf("%q: git accepts it: %v, the parser: %v", text, err == nil, ok)
		return
	}
	if !ok {
		return
	}
	var want []string
	for _, line := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if line != "" {
			want = append(want, line)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q:\n got %q\nwant %q", text, got, want)
	}
}

// String is the variable as `git config --list -z` prints it.
func (v gitVar) String() string {
	name := v.Section
	if v.Sub != "" {
		name += "." + v.Sub
	}
	if name != "" {
		name += "."
	}
	if v.Bare {
		return name + v.Key
	}
	return name + v.Key + "\n" + v.Value
}

// FuzzGitConfig checks that the parser terminates, returns names in git's form, and reads a
// file that git accepts to its end.
func FuzzGitConfig(f *testing.F) {
	for _, text := range configs {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		ok := parseGitConfig(text, func(v gitVar) {
			n++
			if v.Key == "" || v.Key != strings.ToLower(v.Key) || strings.Contains(v.Value, "\x00") {
				t.Errorf("%q gives %+v", text, v)
			}
			use, text, _ := keyUse(&v)
			if use == command {
				words := 0
				commandWords(text, func(word string) {
					if words++; word == "" || strings.ContainsAny(word, commandBreaks) {
						t.Errorf("%q gives the word %q", text, word)
					}
				})
				if words > maxWords {
					t.Errorf("%d words", words)
				}
			}
		})
		if n > maxVars || n > len(text) {
			t.Errorf("%d variables of %d bytes", n, len(text))
		}
		if more := parseGitConfig(text+"\n[core]\npager = x\n", func(gitVar) { n-- }); ok && (!more || n != -1) {
			t.Errorf("%q is accepted, but not with a section after it", text)
		}
	})
}

func TestKeyUse(t *testing.T) {
	type used struct {
		use  use
		text string
	}
	for text, want := range map[string]used{
		"[core]\nfsmonitor=x":                           {command, "x"},
		"[core \"x\"]\nfsmonitor=x":                     {},
		"[Core]\nHooksPath=x":                           {path, "x"},
		"[include]\npath=x":                             {include, "x"},
		"[includeIf \"onbranch:m\"]path=x":              {include, "x"},
		"[filter \"lfs\"]\nclean=x":                     {command, "x"},
		"[pager]\nlog=x":                                {command, "x"},
		"[alias]\nx=!y":                                 {},
		"[core]\nexcludesFile=x":                        {},
		"[lfs \"extension.a\"]\nclean=x":                {command, "x"},
		"[lfs \"customtransfer.a\"]\npath=x":            {command, "x"},
		"[lfs \"customtransfer.a\"]\nargs=x":            {operands, "x"},
		"[remote \"o\"]\nurl=ext::sh -c ./x":            {command, "sh -c ./x"},
		"[remote \"o\"]\nurl=https://example.com":       {},
		"[url \"ext::./x %S \"]\ninsteadOf=https://a.b": {command, "./x %S "},
		"[url \"https://c.d\"]\ninsteadOf=ext::x":       {},
		"[branch \"b\"]\nremote=ext::./x":               {command, "./x"},
		"[branch \"b\"]\nremote=origin":                 {},
		"[sendemail \"i\"]\nsmtpServer=/x":              {command, "/x"},
		"[sendemail]\ntoCmd=./x":                        {command, "./x"},
	} {
		parseGitConfig(text, func(v gitVar) {
			if got, word, why := keyUse(&v); got != want.use || word != want.text || (why == "") != (got == unused) {
				t.Errorf("%q is %v, %q (%q), not %v", text, got, word, why, want)
			}
		})
	}
}

func TestCommandWords(t *testing.T) {
	for value, want := range map[string]string{
		"./run.sh":                             "./run.sh",
		"!f() { sh scripts/x.sh; }; f":         "f { sh scripts/x.sh } f",
		`"./a b/c" --file=x`:                   "./a b/c --file x",
		"ssh -F .ssh/config":                   "ssh -F .ssh/config",
		"FOO=bar ./x":                          "FOO bar ./x",
		"":                                     "",
		strings.Repeat("a ", 3*maxWords) + "b": strings.TrimSpace(strings.Repeat("a ", maxWords)),
	} {
		var got []string
		commandWords(value, func(w string) { got = append(got, w) })
		if strings.Join(got, " ") != want {
			t.Errorf("%q gives %q", value, got)
		}
	}
}

func gitPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		if os.Getenv("SBX_TEST_MUST_RUN") != "" {
			t.Fatal("git is not installed, and SBX_TEST_MUST_RUN is set")
		}
		t.Skip("git is not installed")
	}
	return path
}

// gitEnv makes git ignore the machine's and the user's configuration.
func gitEnv(home string) []string {
	return append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+home+"/.gitconfig",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always")
}

// git runs git in dir and returns its trimmed output.
func git(t *testing.T, home, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(gitPath(t), args...)
	cmd.Dir, cmd.Env = dir, gitEnv(home)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return strings.TrimSpace(string(out))
}
