package policy

import (
	"regexp"
	"strings"
	"testing"

	"sbx/internal/doc"
)

func args(t testing.TB, text string) Arg {
	n, err := doc.ParseJSON("args", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n.Get
}

func num(v float64) *float64 { return &v }

// A rule that denies overrides one that asks, and that one a rule that allows, whatever their
// order; without any rule the call is denied.
func TestTheStrongestWins(t *testing.T) {
	allow, ask, deny := Rule{ID: "a", Tool: "*", Effect: Allow}, Rule{ID: "q", Tool: "t", Effect: Ask}, Rule{ID: "d", Tool: "t*", Effect: Deny}
	for _, c := range []struct {
		rules []Rule
		want  Effect
		rule  string
	}{
		{nil, Deny, ""},
		{[]Rule{allow}, Allow, "a"},
		{[]Rule{ask, allow}, Ask, "q"},
		{[]Rule{allow, ask}, Ask, "q"},
		{[]Rule{allow, ask, deny}, Deny, "d"},
		{[]Rule{deny, ask, allow}, Deny, "d"},
		{[]Rule{{ID: "other", Tool: "u", Effect: Allow}}, Deny, ""},
	} {
		d := For("t", c.rules).Decide(args(t, `{}`), make([]Used, len(c.rules)))
		if d.Effect != c.want || d.ID != c.rule || (d.Effect == Deny) != (d.AllowWith != "") {
			t.Errorf("%v: %+v", c.rules, d)
		}
	}
}

func TestConditions(t *testing.T) {
	str := func(s string) *doc.Node { return &doc.Node{Kind: doc.String, Text: s} }
	for _, c := range []struct {
		when Condition
		args string
		want bool // of a rule that allows
		deny bool // of a rule that denies
	}{
		{Condition{Arg: "a", Equals: str("x")}, `{"a": "x"}`, true, true},
		{Condition{Arg: "a", Equals: str("x")}, `{"a": "y"}`, false, false},
		{Condition{Arg: "a", Equals: str("1")}, `{"a": 1}`, false, true},
		{Condition{Arg: "a", Equals: str("1")}, `{"a": 2}`, false, false},
		{Condition{Arg: "a", Equals: &doc.Node{Kind: doc.Number, Text: "1"}}, `{"a": 1.0}`, true, true},
		{Condition{Arg: "a", Prefix: "bug"}, `{"a": "bug 1"}`, true, true},
		{Condition{Arg: "a", Prefix: "bug"}, `{"b": "bug 1"}`, false, false},
		{Condition{Arg: "a", Prefix: "bug"}, `{"a": {"bug": 1}}`, false, true},
		{Condition{Arg: "a", Glob: "src/**"}, `{"a": "src/a/b"}`, true, true},
		{Condition{Arg: "a", Glob: "src/*"}, `{"a": "src/a/b"}`, false, false},
		{Condition{Arg: "a", Min: num(1), Max: num(9)}, `{"a": 9}`, true, true},
		{Condition{Arg: "a", Min: num(1), Max: num(9)}, `{"a": 9.5}`, false, false},
		{Condition{Arg: "a", Min: num(1)}, `{"a": "5"}`, false, true},
		{Condition{Arg: "a", Min: num(1)}, `{"a": 1e999}`, false, true},
		{Condition{Arg: "a", Prefix: "b"}, `{"a": ["b1", "b2"]}`, true, true},
		{Condition{Arg: "a", Prefix: "b"}, `{"a": ["b1", "c"]}`, false, true},
		{Condition{Arg: "a", Prefix: "b"}, `{"a": []}`, false, false},
	} {
		for effect, want := range map[Effect]bool{Allow: c.want, Deny: c.deny} {
			p := For("t", []Rule{{Tool: "t", When: []Condition{c.when}, Effect: effect}})
			d := p.Decide(args(t, c.args), make([]Used, 1))
			if got := d.Rule == 0; got != want {
				t.Errorf("%+v of %s, rule that does %v: %+v", c.when, c.args, effect, d)
			}
		}
	}
}

func TestARuleIsUsedUp(t *testing.T) {
	rules := []Rule{{ID: "r", Tool: "t", Effect: Allow, MaxCalls: 2, MaxBytes: 10}}
	p := For("t", rules)
	for _, c := range []struct {
		used Used
		want Effect
		with string
	}{{Used{1, 9}, Allow, ""}, {Used{2, 0}, Deny, "max_calls: 3"}, {Used{1, 10}, Deny, "max_bytes: 11"}} {
		used := []Used{c.used}
		if d := p.Decide(args(t, `{}`), used); d.Effect != c.want || d.AllowWith != c.with || d.ID != "r" {
			t.Errorf("%+v: %+v", c.used, d)
		}
		if p.Could(used) != (c.want == Allow) {
			t.Errorf("%+v: could be allowed: %v", c.used, p.Could(used))
		}
	}
}

// A glob is compared with a regular expression of the same meaning.
func FuzzGlob(f *testing.F) {
	for _, s := range []string{"", "*", "**", "a*b?c", "src/**/*.go", "**a*b**c", "*/"} {
		f.Add(s, "src/a/b.go")
		f.Add(s, "aXbXc")
	}
	f.Fuzz(func(t *testing.T, glob, s string) {
		if len(glob) > 40 || len(s) > 60 || strings.Contains(glob, "***") || strings.IndexFunc(glob+s, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
			return
		}
		re := regexp.QuoteMeta(glob)
		re = strings.ReplaceAll(re, `\*\*`, `.*`)
		re = strings.ReplaceAll(re, `\*`, `[^/]*`)
		re = strings.ReplaceAll(re, `\?`, `[^/]`)
		if got, want := matches(glob, s), regexp.MustCompile(`^`+re+`$`).MatchString(s); got != want {
			t.Errorf("%q matches %q: %v, want %v", glob, s, got, want)
		}
	})
}
