package host

import (
	"slices"
	"strings"
	"testing"

	"sbx/wrap/defaults"
)

// wordsOf returns the words of programWords; "?" marks those that may not be run.
func wordsOf(n *defaults.Naming, text string) (words []string) {
	programWords(n, text, func(word string, runs bool) {
		if !runs {
			word += "?"
		}
		words = append(words, word)
	})
	return words
}

func TestNamedWords(t *testing.T) {
	row := func(f defaults.Format, keys ...string) *defaults.Naming {
		return &defaults.Naming{Format: f, Keys: keys}
	}
	all, hooks, script := row(defaults.Strings), row(defaults.Strings, "hooks", "*Line"), row(defaults.Script)
	for _, c := range []struct {
		row  *defaults.Naming
		text string
		want string // with blanks between the words
	}{
		{all, `{"a": "x.sh", "b": ["y", {"c": "z"}]}`, "x.sh y z"},
		{all, `}}{"a": "x.sh"}`, "x.sh"},
		{all, `{"a": "bash x.sh --y=z"}`, "bash_x.sh_--y=z bash? x.sh z"},
		{all, `{"a": "\"$DIR\"/x.sh"}`, `"$DIR"/x.sh /x.sh`},
		{all, `{"a": "$DIR_1/x.sh", "b": "y$A$B/z"}`, "$DIR_1/x.sh /x.sh y$A$B/z y /z"},
		{all, `{"a": "python3 $ROOT/src/main.py"}`, "python3_$ROOT/src/main.py python3? /src/main.py"},
		{all, `{"a": "cd $X/scripts && ./x.sh"}`, "cd_$X/scripts_&&_./x.sh cd? /scripts? ./x.sh"},
		{all, `{"a": "npx tsc -p t.json; jq -r .name p.json; jq . a/q.json"}`,
			"npx_tsc_-p_t.json;_jq_-r_.name_p.json;_jq_._a/q.json npx? tsc? t.json? jq? .name? p.json? jq? .? a/q.json?"},
		{all, `{"a": "cd x\ny/z", "b": "sh\tw"}`, "cd_x\ny/z cd? x? y/z sh_w sh? w"},
		{all, `{"a": {"command": "node", "args": ["x", "y"]}}`, "node x y"},
		{all, `{"a": {"command": "npx", "env": {"E": "e"}, "args": ["x", "a/y", "tsx", "z"]}}`, "npx e x? a/y? tsx? z"},
		{all, `{"a": {"args": ["x"], "command": "npx"}, "b": ["y"]}`, "x npx y"},
		{all, `{"command": ["sh", "x"], "a": {"command": ["npx", "y", "--c=z", "k l"]}}`, "sh x npx y? z? k_l? k? l?"},
		{all, `{"command": "bash -c", "args": ["x"]}`, "bash_-c bash? x"},
		{row(defaults.Strings, "args"), `{"command": "npx", "args": ["x"]}, {"command": "sh", "args": ["y"]}`, "x? y"},
		{all, `{"a": "${DIR}/x", "b": "--y"}`, "${DIR}/x DIR /x"},
		{all, `{"a": "\u0061\u00e9\/\u002e"}`, "aé/."},
		{all, `{"a": "my dir/x"}`, "my_dir/x my? dir/x?"},
		{all, "{\"a\": \"x\n\"b\": \"y\"}", "x y"},
		{all, `{"a": "x", // "no"` + "\n" + `/* "no" */ 'b': 'y',}`, "x y"},
		{all, `{"url": "https://a.b/c"}`, "https://a.b/c https //a.b/c"},
		{all, `{"a": "x`, "x"},
		{all, `{"a": "x\`, `x\`},
		{all, `/* never`, ""},
		{hooks, `{"hooks": {"a": [{"command": "x"}]}, "b": "y", "statusLine": "z", "c": ["w"]}`, "x z"},
		{hooks, `{"b": {"hooks": "x"}, "hooksy": "y", HOOKS: [1, "z"], "c": "w"}`, "x z"},
		{hooks, `{"b": "hooks", "c": "x", "hooks" : /*`, ""},
		{hooks, `{"hooks": [], "b": "x"}`, ""},
		{hooks, `{"hooks" /* "n" */ : // "n"` + "\n" + `"x"}`, "x"},
		{hooks, `{"hooks": {"a": {}, "b": "x"}, "c": "y"}`, "x"},
		{row(defaults.Lines, "hooks"), "a = 'n'\nhooks.enter = 'x y'\n[tasks.b]\nrun = 'n'\n[[hooks.leave]]\nrun = \"z\"\nhooks = 1", "x_y hooks.enter x y hooks.leave z run z hooks 1"},
		{row(defaults.Lines, "hooks"), "hooks = \"\"\"\nx/y\n\"\"\"\na = 'n'", "hooks x/y"},
		{row(defaults.Lines, "lint-cmd"), "# lint-cmd: n\nlint-cmd:\n  - x\n- y\ntest: n\n", "lint-cmd x y"},
		{script, "#!/bin/sh\n# ./n\n./x a/b c.d e && f/g", "./x a/b? c.d? f/g"},
		{script, "if ! X=y exec ./x; then sh -e z; fi", "./x z"},
		{script, `. "$(dirname "$0")/_/h"`, ".? /_/h"},
		{script, "source_env lib\npython3.12 -m a b", "lib python3.12? a b"},
		{script, "npx x/y.js\nuv run z", "x/y.js? run z"},
		{script, "#!/usr/bin/python3\nf(['sh', 'a/b']); open('c/d')", "a/b c/d?"},
		{script, "node \\\n x", "x"},
		{script, "$A/x; source $ROOT/y; source_env $PWD/z", "/x /y /z"},
		{script, "cd a && ./x; pushd b c", "a? ./x b?"},
		{script, "jq . a/x; . a/y; Rscript z; pypy3 w", ".? a/x? .? a/y z w"},
		{script, "`x/y`|(z/w)", "x/y z/w"},
	} {
		got := strings.Join(underscored(wordsOf(c.row, c.text)), " ")
		if got != c.want {
			t.Errorf("%q gives\n%s, not\n%s", c.text, got, c.want)
		}
	}
	if got := wordsOf(&defaults.Namings()[slices.IndexFunc(defaults.Namings(), func(n defaults.Naming) bool { return n.When != "" })], `{"command": "x"}`); got != nil {
		t.Errorf("without what it wants: %q", got)
	}
}

// underscored shows the blanks in words.
func underscored(words []string) []string {
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], " ", "_")
	}
	return words
}

func FuzzNamedWords(f *testing.F) {
	for _, s := range []string{"", `{"hooks": {"a": ["x"]}}`, "hooks = '''\nx", "a && . b/c", `{"a": "\u00`, "/*", "'", "[", ". ("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []defaults.Format{defaults.Strings, defaults.Lines, defaults.Script} {
			for _, keys := range [][]string{nil, {"hooks", "*path"}} {
				total := 0
				programWords(&defaults.Naming{Format: format, Keys: keys}, text, func(word string, _ bool) {
					if word == "" {
						t.Errorf("%q gives an empty word", text)
					}
					total += len(word)
				})
				if total > 8*len(text)+8 { // each byte is in some words only, whatever the text
					t.Errorf("%d bytes of words from %d", total, len(text))
				}
			}
		}
	})
}
