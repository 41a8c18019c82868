package policy

import "testing"

// A rule that asks is as careful as one that denies: for a list that it matches only in part, and
// for a value of another kind, a person is asked even if a weaker rule would allow the call. The
// control is the weaker rule alone.
func TestWhatMayMatchIsAskedAbout(t *testing.T) {
	allow := Rule{ID: "all", Tool: "*", Effect: Allow}
	for _, c := range []struct {
		when Condition
		args string
		want Effect
	}{
		{Condition{Arg: "a", Prefix: "prod"}, `{"a": ["test", "prod"]}`, Ask},
		{Condition{Arg: "a", Glob: "prod*"}, `{"a": ["test", ["prod"]]}`, Ask},
		{Condition{Arg: "a", Prefix: "prod"}, `{"a": {"b": "prod"}}`, Ask},
		{Condition{Arg: "a", Min: num(100)}, `{"a": "100"}`, Ask},
		{Condition{Arg: "a", Min: num(100)}, `{"a": 100}`, Ask},
		{Condition{Arg: "a", Min: num(100)}, `{"a": 99}`, Allow},
		{Condition{Arg: "a", Prefix: "prod"}, `{"a": ["test", "dev"]}`, Allow},
		{Condition{Arg: "a", Prefix: "prod"}, `{"b": "prod"}`, Allow},
	} {
		ask := Rule{ID: "ask", Tool: "t", When: []Condition{c.when}, Effect: Ask}
		for _, rules := range [][]Rule{{ask, allow}, {allow, ask}} {
			if d := For("t", rules).Decide(args(t, c.args), make([]Used, 2)); d.Effect != c.want {
				t.Errorf("%+v of %s: %+v, want %v", c.when, c.args, d, c.want)
			}
		}
		if d := For("t", []Rule{allow}).Decide(args(t, c.args), make([]Used, 1)); d.Effect != Allow {
			t.Errorf("the control: %+v", d)
		}
	}
}

// A rule that asks and is used up does not leave its calls to weaker rules.
func TestNobodyIsAskedAnyMore(t *testing.T) {
	allow, ask := Rule{ID: "all", Tool: "*", Effect: Allow}, Rule{ID: "ask", Tool: "t", Effect: Ask, MaxCalls: 1}
	other, deny := Rule{ID: "other", Tool: "t", Effect: Ask}, Rule{ID: "no", Tool: "t", Effect: Deny}
	for _, c := range []struct {
		rules []Rule
		calls int64
		want  Effect
		id    string
	}{
		{[]Rule{allow, ask}, 0, Ask, "ask"},
		{[]Rule{allow, ask}, 1, Deny, "ask"},
		{[]Rule{ask, allow}, 1, Deny, "ask"},
		{[]Rule{ask, other, allow}, 1, Ask, "other"},
		{[]Rule{ask, deny, allow}, 1, Deny, "no"},
	} {
		used := make([]Used, len(c.rules))
		for i := range c.rules {
			if c.rules[i].ID == "ask" {
				used[i].Calls = c.calls
			}
		}
		if d := For("t", c.rules).Decide(args(t, `{}`), used); d.Effect != c.want || d.ID != c.id || d.Effect == Deny && d.AllowWith == "" {
			t.Errorf("%v after %d: %+v", c.rules, c.calls, d)
		}
	}
}
