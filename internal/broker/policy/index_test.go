package policy

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"sbx/internal/doc"
)

// plain decides as the documents are written: rule by rule, in order, with nothing prepared.
func plain(tool string, all []Rule, args *doc.Node, used []Used) (effect Effect, rule int) {
	effect, rule = None, -1
	asked := -1 // by a rule that is used up
	for i := range all {
		r := &all[i]
		spent, _ := r.spent(used[i])
		holds := matches(r.Tool, tool) && r.Effect > effect
		for j := range r.When {
			holds = holds && plainly(&r.When[j], args.Get(r.When[j].Arg), r.Effect >= Ask)
		}
		if holds && spent != "" && r.Effect == Ask {
			asked = i
		}
		switch {
		case !holds:
		case spent == "":
			effect, rule = r.Effect, i
		case effect == None:
			rule = i
		}
		if effect == Deny {
			return Deny, rule
		}
	}
	if asked >= 0 && effect <= Allow {
		return Deny, asked
	}
	if effect == None {
		effect = Deny
	}
	return effect, rule
}

func plainly(c *Condition, n *doc.Node, deny bool) bool {
	if n == nil {
		return false
	}
	if n.Kind == doc.List && (c.Equals == nil || c.Equals.Kind != doc.List) {
		some, each := false, len(n.Items) > 0
		for _, item := range n.Items {
			one := plainlyOne(c, item, deny)
			some, each = some || one, each && one
		}
		return deny && some || !deny && each
	}
	return plainlyOne(c, n, deny)
}

func plainlyOne(c *Condition, n *doc.Node, deny bool) bool {
	if c.Equals != nil && string(c.Equals.AppendCanonical(nil)) != string(n.AppendCanonical(nil)) && !(deny && c.Equals.Kind != n.Kind && c.Equals.Text == n.Text) {
		return false
	}
	if (c.Prefix != "" || c.Glob != "") && n.Kind != doc.String {
		return deny
	}
	if c.Prefix != "" && !strings.HasPrefix(n.Text, c.Prefix) || c.Glob != "" && !matches(c.Glob, n.Text) {
		return false
	}
	if c.Min == nil && c.Max == nil {
		return true
	}
	v, err := strconv.ParseFloat(n.Text, 64)
	if n.Kind != doc.Number || err != nil {
		return deny
	}
	return (c.Min == nil || v >= *c.Min) && (c.Max == nil || v <= *c.Max)
}

// Whatever the rules and the arguments, the index decides like the rules by themselves.
func TestTheIndexChangesNoDecision(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	scalar := func() string {
		return pick(`"a"`, `"ab"`, `"abc"`, `"b/a"`, `"b/c.env"`, `""`, `"1"`, `1`, `1.0`, `2e0`, `-0`, `true`, `"true"`, `null`, `1e999`)
	}
	text := func() string {
		switch r.IntN(8) {
		case 0:
			return `[` + scalar() + `, ` + scalar() + `]`
		case 1:
			return pick(`[]`, `{}`, `{"x": 1}`, `["a"]`, `[["a"]]`, `[["b"], "a"]`, `[{"x": 1}]`)
		}
		return scalar()
	}
	parse := func(text string) *doc.Node {
		n, err := doc.ParseJSON("", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	count := map[Effect]int{}
	for n := range 30000 {
		var all []Rule
		for i := range 1 + r.IntN(9) {
			rule := Rule{ID: fmt.Sprint("r", i), Tool: pick("t", "t*", "*", "u"), Effect: []Effect{Allow, Allow, Ask, Deny}[r.IntN(4)]}
			if rule.Effect != Deny {
				rule.MaxCalls = int64(r.IntN(3))
			}
			for range r.IntN(3) {
				c := Condition{Arg: pick("x", "y")}
				for c.Equals == nil && c.Prefix == "" && c.Glob == "" && c.Min == nil && c.Max == nil {
					if r.IntN(3) == 0 {
						c.Equals = parse(text())
					}
					if r.IntN(4) == 0 {
						c.Prefix = pick("a", "ab", "b/", "b/c")
					}
					if r.IntN(3) == 0 {
						c.Glob = pick("*", "**", "a*", "*a", "?", "a?", "?b", "b/*", "**.env", "b/**", "*b*", "a", "abc", "b*a", "ab*bc")
					}
					if r.IntN(6) == 0 {
						c.Min = num(float64(r.IntN(3)))
					}
					if r.IntN(6) == 0 {
						c.Max = num(float64(r.IntN(3)))
					}
				}
				rule.When = append(rule.When, c)
			}
			all = append(all, rule)
		}
		args := `{"x": ` + text() + `, "y": ` + text() + `}`
		if r.IntN(4) == 0 {
			args = `{"y": ` + text() + `}`
		}
		used := make([]Used, len(all))
		for i := range used {
			used[i].Calls = int64(r.IntN(3))
		}
		node := parse(args)
		effect, rule := plain("t", all, node, used)
		got := For("t", all).Decide(node.Get, used)
		if got.Effect != effect || got.Rule != rule {
			t.Fatalf("%d: %s under %+v: %v by %d, want %v by %d", n, args, all, got.Effect, got.Rule, effect, rule)
		}
		count[effect]++
	}
	if len(count) != 3 || min(count[Allow], count[Ask], count[Deny]) < 2000 {
		t.Errorf("they decide %v", count)
	}
}

// FuzzRules compares decisions with those of the rules by themselves, on arbitrary texts.
func FuzzRules(f *testing.F) {
	f.Add("src/", "src/**/*.go", "**.env", `"src/a.go"`, `["src/a.go", "b.env"]`)
	f.Add("a", "?*", "*b*", `1`, `"1"`)
	f.Add("", "**", "a*a", `{"a": [1]}`, `{"a": [1.0]}`)
	f.Fuzz(func(t *testing.T, prefix, one, two, equals, arg string) {
		same, err := doc.ParseJSON("", []byte(equals))
		if err != nil {
			return
		}
		args, err := doc.ParseJSON("", []byte(`{"x": `+arg+`}`))
		if err != nil || len(arg) > 1000 || len(one)+len(two) > 200 {
			return
		}
		var all []Rule
		for i, c := range []Condition{{Prefix: prefix}, {Glob: one}, {Glob: two, Prefix: prefix}, {Equals: same}, {Equals: same, Glob: one}, {Glob: two, Max: num(3)}} {
			c.Arg = "x"
			all = append(all, Rule{ID: fmt.Sprint(i), Tool: "*", When: []Condition{c}, Effect: Effect(1 + (len(prefix)+i)%3)})
		}
		for n := range all {
			used := make([]Used, len(all))
			effect, rule := plain("t", all[n:], args, used)
			if got := For("t", all[n:]).Decide(args.Get, used); got.Effect != effect || got.Rule != rule {
				t.Errorf("%s under %+v: %v by %d, want %v by %d", arg, all[n:], got.Effect, got.Rule, effect, rule)
			}
		}
	})
}

// BenchmarkDecide measures a decision by a policy of a thousand rules, with different conditions.
func BenchmarkDecide(b *testing.B) {
	for _, c := range []struct {
		name string
		when func(i int) Condition
	}{
		{"lead", func(i int) Condition { return Condition{Arg: "path", Glob: fmt.Sprintf("secret%d/**", i)} }},
		{"tail", func(i int) Condition { return Condition{Arg: "path", Glob: fmt.Sprintf("**/*.key%d", i)} }},
		{"within", func(i int) Condition { return Condition{Arg: "path", Glob: fmt.Sprintf("**key%d**", i)} }},
		{"one lead", func(i int) Condition { return Condition{Arg: "path", Glob: fmt.Sprintf("src/*%d", i)} }},
		{"equals", func(i int) Condition {
			return Condition{Arg: "path", Equals: &doc.Node{Kind: doc.String, Text: fmt.Sprint("key", i)}}
		}},
		{"range", func(i int) Condition { return Condition{Arg: "n", Max: num(float64(-i))} }},
		{"numbers", func(i int) Condition {
			return Condition{Arg: "n", Equals: &doc.Node{Kind: doc.Number, Text: fmt.Sprint(-1 - i)}}
		}},
		{"list", func(i int) Condition { return Condition{Arg: "list", Prefix: fmt.Sprint("key", i)} }},
	} {
		b.Run(strings.ReplaceAll(c.name, " ", "-"), func(b *testing.B) {
			var rules []Rule
			for i := range 999 {
				rules = append(rules, Rule{ID: "r", Tool: "t*", When: []Condition{c.when(i)}, Effect: Deny})
			}
			rules = append(rules, Rule{ID: "a", Tool: "*", Effect: Allow})
			p, arg, used := For("t", rules), args(b, `{"path": "src/internal/a.go", "n": 1, "list": ["a", "b", "c"]}`), make([]Used, len(rules))
			b.ReportAllocs()
			for b.Loop() {
				if p.Decide(arg, used).Effect != Allow {
					b.Fatal("denied")
				}
			}
		})
	}
}
