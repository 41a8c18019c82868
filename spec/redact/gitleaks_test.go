package redact

import (
	_ "embed"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

//go:embed testdata/gitleaks.txt
var expressions string

// TestGitleaks makes texts from the expressions of gitleaks' rules whose tokens have a prefix of
// their own, and checks that such a token is hidden from its first character to its last, wherever
// it stands.
func TestGitleaks(t *testing.T) {
	rules := strings.Split(strings.TrimSpace(expressions), "\n")
	if len(rules) < 90 {
		t.Fatalf("%d rules: the list has lost most of them", len(rules))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, line := range rules {
		id, expression, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("%q is no rule", line)
		}
		re := regexp.MustCompile(expression)
		tree, err := syntax.Parse(expression, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		matched := 0
		for range 20 {
			var b strings.Builder
			write(&b, tree, random)
			token := strings.TrimRight(b.String(), " \"\n\r\\`';")
			if !re.MatchString(token) {
				continue // the sampler does not support an assertion
			}
			matched++
			for _, argv := range [][]string{{"x", token}, {"x", "say '" + token + "' twice"}, {"x", "--value=" + token}, {"x", "X=" + token}, {"x", "a:" + token + "\n"}} {
				got := strings.Join(Args(argv), " ")
				if !strings.Contains(got, Mark) || strings.Contains(got, token[:min(len(token), 12)]) || strings.Contains(got, token[len(token)-8:]) {
					t.Errorf("%s: %q became %q", id, argv, got)
				}
			}
		}
		if matched == 0 {
			t.Errorf("%s: no sample matches %s", id, expression)
		}
	}
}

// write adds a text that matches an expression.
func write(b *strings.Builder, re *syntax.Regexp, random *rand.Rand) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 {
			text = asWritten(text)
		}
		b.WriteString(text)
	case syntax.OpCharClass:
		var all []rune
		for i := 0; i+1 < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= re.Rune[i+1] && c < 127; c++ {
				if c > ' ' {
					all = append(all, c)
				}
			}
		}
		if len(all) > 0 {
			b.WriteRune(all[random.IntN(len(all))])
		}
	case syntax.OpAnyCharNotNL:
		b.WriteByte('.')
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			write(b, sub, random)
		}
	case syntax.OpAlternate:
		write(b, re.Sub[random.IntN(len(re.Sub))], random)
	case syntax.OpQuest, syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		least, most := map[syntax.Op]int{syntax.OpPlus: 1}[re.Op], 1
		if re.Op == syntax.OpRepeat {
			least, most = re.Min, max(re.Min, min(re.Max, re.Min+8))
		}
		for range least + random.IntN(most-least+1) {
			write(b, re.Sub[0], random)
		}
	}
}

// asWritten returns a text in the case in which the expressions have it.
func asWritten(text string) string {
	if at := strings.Index(strings.ToLower(expressions), strings.ToLower(text)); at >= 0 {
		return expressions[at : at+len(text)]
	}
	return text
}
