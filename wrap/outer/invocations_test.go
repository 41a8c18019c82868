package outer

import (
	"math/rand/v2"
	"slices"
	"strings"

	"sbx/spec"
	"sbx/spec/redact"
)

// invocations makes random invocations: odd names, credentials of every kind that the rules know,
// paths, and lengths at which something is cut.
type invocations struct {
	*rand.Rand
	rules       redact.Tables
	credentials []spec.CredentialName
}

func pick[T any](g *invocations, list []T) T { return list[g.IntN(len(list))] }

var oddText = []string{"", " ", "a b", "it's", `say "x"`, "-", "--", "=", "é", "漢字", "😀", "\u212a", "\u0130", "\u017f", "\u0131", "e\u0301", "\n", "\t", "a\\b", "$(x)", "`y`", "<z>", "{}", "[]", "100%", "*", "__proto__", "constructor", "<redacted>", "…"}

var oddPaths = []string{"/", "//", "/srv/data", "/srv/data/x", "/home/u/w", "/home/u/w/sub/file", "/home/u", "/home/u/.ssh", "/home/other/x", "/usr/bin/env", "/usr/../home/o", "/tmp", "/tmp/x", "/var/tmp",
	"/etc/passwd", "/proc/self/root/home/o", "/proc/cpuinfo", "//home/o/x", "///usr/lib", "/srv/c:d", "/srv/a,b", "/opt/é/x", "/data", "/out/y", "https://example.test/home/o", "file:///home/o", "FILE://h/home/o",
	"sqlite:////home/o", "jdbc:postgresql://h/db?user=x&Password=y", "//u:pw@h", "a//u:pw@h", "x=https://h/#password=y", "u:pw@tcp(h:3306)/db", "--dsn=u:p@w(x)/@unix(/s)/db?a=b", "root:pw@/db", "a=b:pw@/db", "a:b/@/c", "u@tcp(h)/db", "https://h/?d=u:pw@tcp(h)/db", "http://u:pw@h/p", "ssh://0123456789abcdef@h/", "./rel/x", "../up", "a/b", "-I/home/o", "-L/usr/lib", "--dir=/home/u/w", "@/home/o", "+/home/o", "x;/home/o", "~/x", "/home/u/w/../../o", "/srv/data(1)/x", "/homes/u"}

// word returns a piece of an argument.
func (g *invocations) word() string {
	secret := "s3cret" + strings.Repeat("Ab9_", g.IntN(12))
	switch g.IntN(14) {
	case 0:
		return pick(g, oddText)
	case 1, 2:
		return pick(g, oddPaths)
	case 3:
		return "--" + pick(g, g.rules.Words) + pick(g, []string{"", "=", "=" + secret, "-" + pick(g, g.rules.Harmless) + "=" + secret})
	case 4:
		return strings.ToUpper(pick(g, g.rules.Keys)) + "_KEY=" + secret
	case 5:
		s := pick(g, g.rules.Shapes)
		token := s.Prefix
		for _, p := range s.Parts {
			for range p.N - g.IntN(8)/7 { // sometimes one too few
				token += string(p.Ranges[g.IntN(len(p.Ranges))])
			}
		}
		return pick(g, []string{"", "x", "a.", "/", "\""}) + token + pick(g, []string{"", "", "a7", "/x", "=="})
	case 6:
		f := pick(g, g.rules.Flags)
		return pick(g, []string{f.Program, "/usr/bin/" + f.Program, f.Flag, f.Flag + secret, f.Program + " " + f.Flag + " " + secret, f.Program + " " + f.Flag + secret + " -x"})
	case 7:
		return pick(g, []string{"Authorization: Bearer " + secret, "authorization: basic dXNlcjpwYXNz", "BEARER " + secret + ",x", "unbearer abc123", "X-Api-Key: " + secret + "\nnext: 1", `{"password": "` + secret + `", "n": 1}`,
			`{\"token\": \"` + secret + `\"}`, "?token=" + secret + "&x=1", "-----BEGIN PRIVATE KEY-----", "password = '" + secret + "\\'x' y", "pwd=/x", "my-pwd=" + secret, "camelToken=" + secret, "no-password=x", "AUTHOR\u0130ZATION=" + secret, "TO\u212aEN=" + secret})
	case 8:
		n := pick(g, []int{1020, 1023, 1024, 1025, 8190, 8192, 8193, 9000})
		return strings.Repeat("y", g.IntN(5)) + strings.Repeat(pick(g, []string{"z", "é", "漢", "😀", "- ", "/q"}), n/2)
	case 10: // names that are examined only in part, or not at all
		return pick(g, []string{strings.Repeat("n", pick(g, []int{190, 194, 195, 196})) + "-token=", "--" + strings.Repeat("a-", pick(g, []int{14, 15, 16})) + "token=", "https://u:" + strings.Repeat("p", 7800) + "@h/" + strings.Repeat("x", g.IntN(4)) + strings.Repeat("漢", 200) + "="}) + secret
	case 9:
		return "sh -c '" + g.word() + " --" + pick(g, g.rules.Words) + " " + secret + "'"
	default:
		return pick(g, []string{"run", "--dir", "build", "-v", "-p", "8080:80", "x=1", "--verbose", "mod.wasm", "--env"}) + pick(g, []string{"", "", "", "é"})
	}
}

func (g *invocations) text() string {
	s := g.word()
	for g.IntN(4) == 0 {
		s += pick(g, []string{"", " ", "=", ":", ",", "\""}) + g.word()
	}
	return s
}

// next returns an invocation whose directories are mostly those of the wrapper.
func (g *invocations) next(mounts []DirMount) Invocation {
	inv := Invocation{Cmd: pick(g, []string{"/usr/bin/wasmtime", "wasmtime", "curl", "/home/u/w/tool", "/home/o/é tool", "mysql", "./x/y"}), Args: []string{}, Env: []string{}}
	n := g.IntN(9)
	switch g.IntN(40) {
	case 0:
		n = 1100
	case 1:
		inv.Cmd = pick(g, []string{"", "a\x00b"})
	case 2:
		inv.Args = append(inv.Args, "a\x00b")
	}
	for range n {
		inv.Args = append(inv.Args, g.text())
	}
	names := map[string]bool{}
	for range g.IntN(12) {
		name := g.name()
		if !names[name] {
			names[name] = true
			inv.Env = append(inv.Env, name+"="+pick(g, append(oddPaths, oddText...)))
		}
	}
	slices.Sort(inv.Env)
	inv.Cwd = pick(g, []string{"", "", "/home/u/w", "/home/u/w", "/srv/data", "/home/u", "/usr", "/tmp", "/tmp/x", "/nowhere", "/proc", "/dev/shm", "relative", "/a/../b", "/a//b"}[:g.IntN(12)+4])
	for _, m := range mounts {
		if g.IntN(4) > 0 {
			inv.Mounts = append(inv.Mounts, m)
		}
	}
	if g.IntN(6) == 0 {
		inv.Mounts = append(inv.Mounts, DirMount{pick(g, append([]string{"l"}, oddText[1:]...)), pick(g, []string{"/srv/data", "/home/u/w", "/home/u/w/sub", "/usr", "/nowhere", "/tmp", "relative", "/a/..", ""}),
			pick(g, []string{"/data", "/out", "/é", "/g", "g", "/x/../y", "/"}), pick(g, []spec.MountMode{spec.MountRO, spec.MountRW})})
	}
	return inv
}

// name returns the name of a variable: one of the caller's usual ones, or one that looks like a
// credential, or almost.
func (g *invocations) name() string {
	switch g.IntN(4) {
	case 0:
		return pick(g, []string{"PATH", "HOME", "LANG", "A", "A1", "A-B", "DOCKER_HOST", "CONTAINER_X", "XDG_RUNTIME_DIR", "LD_PRELOAD", "SSH_AUTH_SOCK", "API_KEY", "1", "__proto__", "é", "z\u0131", "\U0001f600", "\uff5e"})
	case 1:
		return pick(g, []string{"", "x", "MY_"}) + strings.ToLower(pick(g, g.rules.Words))
	}
	name := pick(g, g.credentials).Glob
	for _, c := range []string{"*", "?"} {
		for strings.Contains(name, c) {
			name = strings.Replace(name, c, pick(g, []string{"", "X", "Ab", "\u017f", "\u0131", "9_"}), 1)
		}
	}
	if g.IntN(3) == 0 {
		name = strings.ToLower(name)
	}
	if name == "" {
		return "N"
	}
	return name
}
