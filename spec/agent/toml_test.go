package agent

import (
	"strings"
	"testing"
)

func TestTOMLKeys(t *testing.T) {
	for _, c := range []struct{ text, want string }{ // keys by |, their parts by /
		{"", ""},
		{"\ufeff# a comment\r\n\r\na = 1\r\n", "a"},
		{"a.b . \"c.d\".'e\\f' = true # x", `a/b/c.d/e\f`},
		{`"\u006fne\x41\U00000042\t" = 1`, "oneAB\t"},
		{"[mcp_servers.one]\ncommand = \"x\"\n[ mcp_servers . \"t w\" ] # y\nargs = [\"a\", 'b', # c\n ]\n", "mcp_servers/one|mcp_servers/one/command|mcp_servers/t w|mcp_servers/t w/args"},
		{"mcp_servers = { one = { command = \"x\", env = {A = \"}\"} }, two.url = 'u' }", "mcp_servers|mcp_servers/one|mcp_servers/one/command|mcp_servers/one/env|mcp_servers/one/env/A|mcp_servers/two/url"},
		{"x = {\n a = 1,\n b = 2, # c\n}\ny = 1", "x|x/a|x/b|y"},
		{"[[profiles]]\na = [[1, 2], [{b = 3}]]\n", "profiles|profiles/a|/b"},
		{"a = \"\"\"\n[mcp_servers.no]\n\\\"\"\" \"\"\"\"\"\nb = '''\n'x''''\nc = 1", "a|b|c"},
		{"a = \"\\\"[x]\"\nb = ''\nc = \"\"\n", "a|b|c"},
		{"d = 1979-05-27 07:32:00.5Z\ne = 1979-05-27T00:00:00-07:00\nf = +1_0.5e-3\ng = -inf", "d|e|f|g"},
	} {
		keys, err := tomlKeys(c.text)
		var all []string
		for _, k := range keys {
			all = append(all, strings.Join(k, "/"))
		}
		if got := strings.Join(all, "|"); err != nil || got != c.want {
			t.Errorf("%q: %q, %v, want %q", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{
		"a", "a =", "= 1", "[a", "[a]]", "[[a]", "a = 1 b = 2", "a = \"x", "a = \"x\ny\"", "a = '''x", "a = \"\"\"x\\\"\"\"", "a = [1", "a = [1 2]", "a = {b}", "a = {b = 1", "a..b = 1",
		"\"\"\"a\"\"\" = 1", "\"\\q\" = 1", "\"\\u00g0\" = 1", "\"\\u00", "a = ,", "a = " + strings.Repeat("[", 100), "a = " + strings.Repeat("{b=", 100), "a = 1\rb = 2", "[a] b = 1", "é = 1", "a = @",
	} {
		if keys, err := tomlKeys(text); err == nil {
			t.Errorf("%q was read: %q", text, keys)
		}
	}
}

func FuzzTOMLKeys(f *testing.F) {
	f.Add("[a.\"b\"]\nc = {d = [1, '''x'''], e = \"\\u0041\"}\n")
	f.Add("a = 1979-05-27 07:32:00\n")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := tomlKeys(text)
		if err != nil && keys != nil {
			t.Error("keys beside an error")
		}
		if err != nil {
			return
		}
		// A table at the end is found whatever stands before it.
		more, err := tomlKeys(text + "\n[mcp_servers.\"x\"]\n")
		if err != nil || len(more) != len(keys)+1 || strings.Join(more[len(more)-1], ".") != "mcp_servers.x" {
			t.Errorf("%q and a table: %q, %v", text, more, err)
		}
	})
}
