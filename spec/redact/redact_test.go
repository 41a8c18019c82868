package redact

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const r = Mark

func TestArgs(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{[]string{"x", "--token=abc"}, []string{"x", "--token=" + r}},
		{[]string{"x", "--token", "abc", "abc"}, []string{"x", "--token", r, "abc"}},
		{[]string{"x", "--password", "--verbose"}, []string{"x", "--password", "--verbose"}},
		{[]string{"x", "--password", "-hunter2"}, []string{"x", "--password", r}},
		{[]string{"x", "--api-key", "k", "--apiKey=k"}, []string{"x", "--api-key", r, "--apiKey=" + r}},
		{[]string{"x", "--access_key=k"}, []string{"x", "--access_key=" + r}},
		{[]string{"env", "GITHUB_TOKEN=a b c", "make"}, []string{"env", "GITHUB_TOKEN=" + r, "make"}},
		{[]string{"env", "PGPASSWORD=x", "AWS_SECRET_ACCESS_KEY=x", "DB_PWD=x"}, []string{"env", "PGPASSWORD=" + r, "AWS_SECRET_ACCESS_KEY=" + r, "DB_PWD=" + r}},
		{[]string{"mysql", "-psecret", "-p3306"}, []string{"mysql", "-p" + r, "-p" + r}},
		{[]string{"mysql", "-p", "db"}, []string{"mysql", "-p", "db"}},
		{[]string{"sudo", "/usr/bin/mysqldump", "-psecret"}, []string{"sudo", "/usr/bin/mysqldump", "-p" + r}},
		{[]string{"ssh", "-p2222", "-p", "22"}, []string{"ssh", "-p2222", "-p", "22"}},
		{[]string{"sshpass", "-p", "x", "ssh"}, []string{"sshpass", "-p", r, "ssh"}},
		{[]string{"curl", "-u", "me:pw", "-ume:pw", "--user", "me:pw"}, []string{"curl", "-u", r, "-u" + r, "--user", r}},
		{[]string{"curl", "-H", "Authorization: Bearer abcdef123"}, []string{"curl", "-H", "Authorization: " + r}},
		{[]string{"curl", "-H", "X-Api-Key: abcdef"}, []string{"curl", "-H", "X-Api-Key: " + r}},
		{[]string{"git", "clone", "https://me:pw@host/x.git"}, []string{"git", "clone", "https://me:" + r + "@host/x.git"}},
		{[]string{"git", "clone", "https://me:p@w@host/x.git"}, []string{"git", "clone", "https://me:" + r + "@host/x.git"}},
		{[]string{"git", "clone", "https://0123456789abcdef0123@host/"}, []string{"git", "clone", "https://" + r + "@host/"}},
		{[]string{"x", "me:pw@tcp(h:3306)/db", "--dsn=me:p@w/(x)/@unix(/s)/db?a=b"}, []string{"x", "me:" + r + "@tcp(h:3306)/db", "--dsn=me:" + r + "@unix(/s)/db?a=b"}},
		{[]string{"x", "DSN=root:pw@/db", "mysql://me:pw@tcp(h)/db"}, []string{"x", "DSN=root:" + r + "@/db", "mysql://me:" + r + "@tcp(h)/db"}},
		{[]string{"sh", "-c", "run 'me:pw@tcp(h)/a' \"you:pw@tcp(h)/b\""}, []string{"sh", "-c", "run 'me:" + r + "@tcp(h)/a' \"you:" + r + "@tcp(h)/b\""}},
		{[]string{"git", "clone", "ssh://git@host/x"}, []string{"git", "clone", "ssh://git@host/x"}},
		{[]string{"x", "https://h/p?a=1&token=abc&b=2"}, []string{"x", "https://h/p?a=1&token=" + r + "&b=2"}},
		{[]string{"x", "sk-" + strings.Repeat("aB3", 9)}, []string{"x", r}},
		{[]string{"x", "a=ghp" + "_abcdefghijklmnopqrstuvwxyz0123456789"}, []string{"x", "a=" + r}},
		{[]string{"x", "AKIA" + "ABCDEFGHIJKLMNOP"}, []string{"x", r}},
		{[]string{"x", "xoxb" + "-1234567890-abc"}, []string{"x", r}},
		{[]string{"x", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"}, []string{"x", r}},
		{[]string{"x", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc"}, []string{"x", r}},
		{[]string{"x", `{"password": "a\"b", "user": "me"}`}, []string{"x", `{"password": "` + r + `", "user": "me"}`}},
		{[]string{"sh", "-c", "TOKEN=abc run it"}, []string{"sh", "-c", "TOKEN=" + r}},
		{[]string{"sh", "-c", "cd x; TOKEN=abc run"}, []string{"sh", "-c", "cd x; TOKEN=" + r + " run"}},
		{[]string{"sh", "-c", "mysql -psecret db; run --token abc it"}, []string{"sh", "-c", "mysql -p" + r + " db; run --token " + r + " it"}},
		{[]string{"sh", "-c", "curl -H 'Authorization: Basic bWU6cHc=' https://u:p@h/"}, []string{"sh", "-c", "curl -H 'Authorization: " + r + "' https://u:" + r + "@h/"}},
		{[]string{"curl", "https://x.webhook.office.com/webhookb2/0a1b2c3d-0000@4e5f6a7b-0000/IncomingWebhook/0123456789abcdef/8c9d"}, []string{"curl", "https://x.webhook.office.com/" + r}},
		{[]string{"curl", "https://api.telegram.org/bot123456789:AAHs-0123456789abcdef/getMe?a=b"}, []string{"curl", "https://" + r + "?a=b"}},
		{nil, []string{}},
	} {
		if got := Args(c.in); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

// TestLeaves checks that ordinary arguments stay readable; otherwise nobody could see what ran.
func TestLeaves(t *testing.T) {
	for _, a := range []string{
		"", "-", "--", "=", "go", "build", "./...", "-v", "--max-tokens", "--max-tokens=4096", "--author=me <me@x>",
		"PWD=/home/me", "OLDPWD=/x", "--keyboard=de", "--monkey", "KEY_COUNT=3", "--password-file=/run/x", "--password-stdin",
		"--no-password", "SSH_AUTH_SOCK=/run/x", "--token-type=jwt-ish", "http://localhost:3000/a:b@c", "C:\\x", "a=b",
		"--format={{.Name}}", "sk-learn", "AKIA", "eyJ", "task-force-of-something-long-enough", "git@github.com:o/r.git",
		"s/token/word/", "--cache-key=abc", "-Dkey=value", "basic training", "the bearer arrived", "--sort-key", "compass=1", "bypass",
		"credential.helper=store", "--secretary=x", "--passive", "me@tcp(h:3306)/db", "root@/db", "a:b/@/c", "f(a:b@c(d))",
	} {
		if got := Args([]string{"x", a, "next"}); got[1] != a || got[2] != "next" {
			t.Errorf("%q became %q", a, got[1:])
		}
	}
}

func TestTablesHaveReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range [][]secretWord{secretWords[:], harmlessEnds[:]} {
		for _, w := range table {
			if w.why == "" || w.word != strings.ToLower(w.word) || seen[w.word] {
				t.Errorf("%+v: no reason, capitals, or twice", w)
			}
			seen[w.word] = true
		}
	}
	for _, w := range secretKeys {
		if w.why == "" || !secretName("--"+w.word+"-key") || !secretName(w.word+"_key") {
			t.Errorf("%+v", w)
		}
	}
	for _, w := range secretWords {
		if w.word != "pwd" && !secretName("--"+w.word) {
			t.Errorf("--%s is no secret name", w.word)
		}
		if secretName("--" + w.word + "-file") {
			t.Errorf("--%s-file is one", w.word)
		}
	}
	for _, table := range [][]shape{shapes[:], gitleaks[:]} {
		if !slices.IsSortedFunc(table, func(a, b shape) int { return strings.Compare(a.prefix, b.prefix) }) {
			t.Error("a table of shapes is not in order")
		}
		for _, s := range table {
			if token := s.sample(); s.why == "" || len(token) < shortestToken || !tokenByte(token[0]) || Args([]string{"x", token})[1] != Mark {
				t.Errorf("%+v: %q is not Mark", s, token)
			}
		}
	}
	for _, f := range shortFlags {
		argv := []string{f.program, f.flag + "hunter2"}
		if !f.joined {
			argv = []string{f.program, f.flag, "hunter2"}
		}
		if f.why == "" || strings.Contains(strings.Join(Args(argv), " "), "hunter2") {
			t.Errorf("%+v: %q", f, Args(argv))
		}
	}
}

// sample returns the shortest token of a shape.
func (t *shape) sample() string {
	s := t.prefix
	for i, p := range t.parts {
		var of []byte
		for c := range byte(128) {
			if p.set.has(c) {
				of = append(of, c)
			}
		}
		for n := range p.n {
			s += string(of[(i+n*7)%len(of)])
		}
	}
	return s
}

// TestTokensInRuns checks that a token is found at the beginning of a run of its characters, or
// after a dot in one, and that the rest of the run is hidden with it.
func TestTokensInRuns(t *testing.T) {
	token := "ghp_" + strings.Repeat("x", 16)
	for in, want := range map[string]string{
		token: r, "a." + token: "a." + r, token + ".a": r, "a.." + token: "a.." + r, "." + token: "." + r, "a" + token: "a" + token, "-" + token: "-" + token,
		token + "/" + token: r + "/" + r, token[:19]: token[:19], "a.b." + token + "/x": "a.b." + r + "/x", "ghp_." + token: r,
		"ghp_.aaaaaaaaaaaaaaa." + token: r, token + "é" + token: r + "é" + r,
	} {
		if got := Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestLongArguments(t *testing.T) {
	token := "ghp_" + strings.Repeat("x", 36)
	for _, at := range []int{MaxScan/2 - 10, MaxScan - 10, MaxScan - 3, 1 << 20} {
		got := Args([]string{"x", strings.Repeat("a ", at/2) + token})[1]
		if strings.Contains(got, "ghp_") || strings.Contains(got, "xxx") {
			t.Errorf("at %d a token shows: %q", at, got[len(got)-50:])
		}
	}
}

func FuzzArgs(f *testing.F) {
	for _, s := range []string{"--token\x00abc", "mysql\x00-px", "sh\x00-c\x00A=1 TOKEN=2 x", "https://a:b@c", "\"password\":\"", "TOKEN=", "://@", "bearer ", ":::=== token=", "\xff=\xfe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		argv := strings.Split(s, "\x00")
		before := strings.Join(argv, "\x00")
		out := Args(argv)
		if len(out) != len(argv) || strings.Join(argv, "\x00") != before {
			t.Fatal("arguments were lost or changed in place")
		}
		const secret = "hunter2hunter2"
		for _, a := range [][]string{{"x", "--password=" + secret}, {"x", "--token", secret}, {"x", "https://u:" + secret + "@h"}} {
			if got := strings.Join(Args(append(a, argv...)), " "); strings.Contains(got, secret) && !strings.Contains(s, "hunter") {
				t.Fatalf("%q leaves %q", a, got)
			}
		}
	})
}

func BenchmarkArgs(b *testing.B) {
	argv := []string{"claude", "-p", "Fix the failing test in pkg/foo and explain what you did", "--output-format", "stream-json", "--allowedTools", "Bash(git:*),Read"}
	b.ReportAllocs()
	for b.Loop() {
		Args(argv)
	}
}

// TestProgramsBehindManyArguments has a sandbox's own arguments before the command's.
func TestProgramsBehindManyArguments(t *testing.T) {
	argv := make([]string, 500, 600)
	for i := range argv {
		argv[i] = "--bind"
		if i%3 > 0 {
			argv[i] = "/a/b" + strings.Repeat("c", i)
		}
	}
	got := Args(append(argv, "mysql", "-ps3cret", "sh -c '"+strings.Repeat("word ", 100)+"curl -u me:s3cret'"))
	if told := strings.Join(got[500:], "\n"); strings.Contains(told, "s3cret") || !strings.Contains(told, "curl -u") {
		t.Errorf("it tells %s", told)
	}
}
