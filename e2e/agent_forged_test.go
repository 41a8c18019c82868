package e2e

import (
	"os"
	"strings"
	"testing"
)

// A program counts as an agent, which gets keys and a network, only because of a file that no
// command can have put there: not because of a name, a link or a package in the workspace.
func TestForgedAgents(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.env = append(b.env, "ANTHROPIC_API_KEY=KEY-IN-VARIABLE")
	b.write("home/.claude.json", "KEY-IN-FILE\n")
	program := func(path string) string {
		b.write(path, "#!/bin/sh\ncat ~/.claude.json\nprintenv ANTHROPIC_API_KEY\necho ran\n")
		must(t, os.Chmod(path, 0o755))
		return path
	}
	genuine := program(b.out + "/claude")
	program(b.ws + "/build.sh")
	if r := b.sh(specWW, "cp build.sh claude; ln -s claude link; mkdir -p dist node_modules/.bin node_modules/@anthropic-ai/claude-code bin; ln -s ../claude bin/tool; cp build.sh node_modules/.bin/claude; mkdir lib; ln -s /bin/sh lib/claude"); r.code != 0 {
		t.Fatal(r)
	}
	for name, argv := range map[string][]string{
		"by its name": {"./claude"}, "behind a link": {"./link"}, "behind env": {"env", "A=b", "./link"}, "a link in a directory": {"bin/tool"},
		"by an absolute path": {b.ws + "/claude"}, "from another directory": {"env", "-C", b.ws + "/lib", "./claude", "../build.sh"}, "by another PATH": {"env", "PATH=" + b.ws + ":/usr/bin:/bin", "claude"}, "a link that leads out": {"lib/claude", "./build.sh"},
	} {
		r := b.run(specWW, argv...)
		if r.code != 0 || strings.Contains(r.out, "KEY") || !strings.Contains(r.out, "ran") || !strings.Contains(r.err, "is not taken for claude") || r.rec["agent"] != nil {
			t.Errorf("%s: %v", name, r)
		}
		r.rec.hasStatus(t, "network", "enforced")
	}
	// npx prefers the project's packages, and those of the directory that it is told to use.
	npx := func(argv ...string) {
		t.Helper()
		if r := b.run(specWW, argv...); strings.Contains(r.out, "KEY") || r.rec["agent"] != nil || !strings.Contains(r.err, "is not taken for claude") {
			t.Errorf("%q: %v", argv, r)
		}
	}
	npx("npx", "--offline", "claude")
	must(t, os.Rename(b.ws+"/node_modules", b.ws+"/bin/node_modules"))
	npx("npx", "--offline", "--prefix", "bin", "claude")
	npx("npm", "exec", "--offline", "--prefix="+b.ws+"/bin", "--", "claude")
	b.write("ws/package.json", `{"name": "x", "version": "1.0.0", "bin": {"claude": "build.sh"}}`)
	npx("npx", "--offline", "claude")
	// A program next to the workspace, where another command may have left it, does not count
	// either, unless PATH leads there.
	program(b.out + "/cli/claude")
	const sibling = "../out/cli/claude"
	if r := b.run(specWW, sibling); strings.Contains(r.out, "KEY") || !strings.Contains(r.err, "is not taken for claude") || r.rec["agent"] != nil {
		t.Errorf("%s: %v", sibling, r)
	}
	path := len(b.env)
	for _, dir := range []string{b.out + "/cli", b.out + "/links"} {
		if dir != b.out+"/cli" {
			must(t, os.Mkdir(dir, 0o755))
			must(t, os.Symlink("../cli/claude", dir+"/claude"))
		}
		b.env = append(b.env[:path:path], "PATH="+dir+":/usr/bin:/bin")
		if r := b.run(specWW, sibling); !strings.Contains(r.out, "KEY-IN-FILE") || strings.Contains(r.err, "is not taken") {
			t.Errorf("%s with PATH %s: %v", sibling, dir, r)
		}
	}
	b.env = b.env[:path]
	// The controls are a file elsewhere, and one in the workspace that the spec declares to be an
	// agent.
	for _, r := range []result{b.run(specWW, genuine), b.run(specWith(specWW, `"agent":"claude"`), "./claude")} {
		if r.code != 0 || !strings.Contains(r.out, "KEY-IN-FILE") || !strings.Contains(r.out, "KEY-IN-VARIABLE") || strings.Contains(r.err, "is not taken") {
			t.Errorf("the control: %v", r)
		}
	}
	// A program without an agent's name gets nothing, and no message mentions agents.
	if r := b.run(specWW, "./build.sh"); strings.Contains(r.out, "KEY") || strings.Contains(r.err, "sbx:") {
		t.Errorf("another program: %v", r)
	}
}
