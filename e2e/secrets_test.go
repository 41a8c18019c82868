package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// readEach prints the first line of each file that a list names.
const readEach = `while IFS= read -r f; do { IFS= read -r line <"$f"; } 2>/dev/null && echo "$line"; done <list; echo end`

// homeFiles are the files of testdata/secrets.txt in a home: what is to be hidden,
// and what stands beside it and is not.
func homeFiles(t *testing.T) (secret, plain []string) {
	t.Helper()
	f, err := os.Open(moduleDir + "/testdata/secrets.txt")
	must(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		switch name, isPlain := strings.CutPrefix(lines.Text(), "+"); {
		case isPlain:
			plain = append(plain, name)
		case name != "" && name[0] != '#':
			secret = append(secret, name)
		}
	}
	if len(secret) < 300 || len(plain) < 50 {
		t.Fatalf("%d secrets and %d others", len(secret), len(plain))
	}
	return secret, plain
}

// canaries writes a canary into each file of a home and lists them in the workspace.
func (b *box) canaries(home string, files []string) {
	b.t.Helper()
	for _, f := range files {
		b.write(home+"/"+f, f+"\n")
	}
	b.write(b.ws+"/list", home+"/"+strings.Join(files, "\n"+home+"/")+"\n")
}

// seen returns the files that the inside could read.
func (r result) seen() []string {
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	return slices.Sorted(slices.Values(lines[:len(lines)-1]))
}

// compare reports which files are seen and should not be, and which are not seen and should be.
func compare(t *testing.T, what string, r result, want []string) {
	t.Helper()
	got := r.ended().seen()
	want = slices.Sorted(slices.Values(want))
	for _, f := range got {
		if _, is := slices.BinarySearch(want, f); !is {
			t.Errorf("%s: %s can be read", what, f)
		}
	}
	for _, f := range want {
		if _, is := slices.BinarySearch(got, f); !is {
			t.Errorf("%s: %s cannot be read", what, f)
		}
	}
}

// A home full of what programs keep their keys in shows none of them, and all that
// stands beside them; one that is named is shown. wrap.TestMeaningOfSecrets names each.
func TestSecretsOfAHome(t *testing.T) {
	needSandbox(t)
	b := elsewhereBox(t)
	secret, plain := homeFiles(t)
	all := slices.Concat(secret, plain)
	b.canaries(b.home, all)
	compare(t, "control", b.plain("/bin/sh", "-c", readEach), all)
	compare(t, "read-only", b.run(specRO, "/bin/sh", "-c", readEach), plain)
	some := secret[:16]
	spec := specWith(specRO, `"filesystem":{"read":["/","`+b.home+"/"+strings.Join(some, `","`+b.home+"/")+`"]}`)
	compare(t, "named", b.run(spec, "/bin/sh", "-c", readEach), slices.Concat(some, plain))
}

// An agent sees its own keys, and nobody sees another's.
func TestAgentsSeeTheirOwnKeys(t *testing.T) {
	needSandbox(t)
	own := map[string][]string{
		"claude": {".claude/.credentials.json", ".claude.json", ".claude/history.jsonl"},
		"codex":  {".codex/auth.json", ".codex/history.jsonl"},
		"gemini": {".gemini/oauth_creds.json", ".gemini/google_accounts.json", ".gemini/.env"},
	}
	b := elsewhereBox(t)
	files := []string{".copilot/config.json", ".local/share/opencode/auth.json", ".ssh/id"}
	for _, name := range []string{"claude", "codex", "gemini", "other"} {
		files = append(files, own[name]...)
		b.write(b.out+"/bin/"+name, "#!/bin/sh\nexec /bin/sh -c '"+readEach+"'\n")
		must(t, os.Chmod(b.out+"/bin/"+name, 0o755))
	}
	b.canaries(b.home, files)
	for name := range own {
		compare(t, "control", b.plain(b.out+"/bin/"+name), files)
		for _, spec := range []string{specRO, specWW} {
			compare(t, name+" "+spec, b.run(spec, b.out+"/bin/"+name), own[name])
			compare(t, "said to be "+name, b.run(specWith(spec, `"agent":`+quoted(name)), b.out+"/bin/other"), own[name])
		}
	}
	compare(t, "no agent", b.run(specWith(specWW, `"agent":"none"`), b.out+"/bin/claude"), nil)
	moved := b.base + "/moved"
	b.write(moved+"/auth.json", "moved\n")
	b.write(b.ws+"/list", moved+"/auth.json\n")
	b.env = append(b.env, "CODEX_HOME="+moved)
	compare(t, "moved", b.run(specWW, "/bin/sh", "-c", readEach), nil)
	compare(t, "moved, its own", b.run(specWW, b.out+"/bin/codex"), []string{"moved"})
}

// For root, an agent's own keys are those in its own home, not another user's.
func TestAgentsSeeNoOtherHome(t *testing.T) {
	needSandbox(t)
	if !isRoot() {
		t.Skip("only root is shown what others have in their homes")
	}
	b := elsewhereBox(t)
	b.canaries(b.home, []string{".claude.json"})
	b.write(b.out+"/claude", "#!/bin/sh\nexec /bin/sh -c '"+readEach+"'\n")
	must(t, os.Chmod(b.out+"/claude", 0o755))
	other := srv + "/other/.claude.json"
	b.write(b.ws+"/list", other+"\n"+b.home+"/.claude.json\n")
	host := mounting(t, "mkdir other && echo other >other/.claude.json && { cat /etc/passwd; echo other:x:54321:54321::"+srv+"/other:/bin/sh; } >passwd && mount --bind passwd /etc/passwd")
	compare(t, "control", b.on(host, "{}", b.out+"/claude"), []string{".claude.json", "other"})
	compare(t, "claude", b.on(host, specWW, b.out+"/claude"), []string{".claude.json"})
	compare(t, "no agent", b.on(host, specWW, "/bin/sh", "-c", readEach), nil)
}

// Inside an agent's sandbox another command sees that agent's keys, since nothing can be hidden
// there; it runs, and its record says so.
func TestNestedSeesTheAgentsKeys(t *testing.T) {
	n := newNestElsewhere(t)
	n.canaries(n.home, []string{".claude.json", ".codex/auth.json"})
	n.write(n.out+"/claude", "#!/bin/sh\n"+n.inner+" exec --effective /tmp/inner.json --spec-json '"+specRO+"' -- /bin/sh -c '"+readEach+
		"' || exit\necho '--- the inner record'; cat /tmp/inner.json\n")
	must(t, os.Chmod(n.out+"/claude", 0o755))
	r := n.box.run(specWith(specRO, `"network":{"mode":"none"}`), n.out+"/claude")
	out, text, _ := strings.Cut(r.out, "--- the inner record\n")
	r.out = out
	compare(t, "inside claude", r, []string{".claude.json"})
	var inner record
	if err := json.Unmarshal([]byte(text), &inner); err != nil {
		t.Fatalf("%v: %v", err, r)
	}
	inner.hasStatus(t, "secrets", "degraded")
}

// elsewhereBox returns a box whose home no private directory covers.
func elsewhereBox(t *testing.T) *box {
	t.Helper()
	if elsewhere == "" {
		lacks(t, "there is no directory that no private directory covers (SBX_TEST_ELSEWHERE)")
	}
	return newBoxElsewhere(t)
}
