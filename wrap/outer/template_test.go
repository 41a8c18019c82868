package outer

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sbx/spec"
	"sbx/spec/redact"
	"sbx/wrap/world"
)

// oracle is a program in another language that wraps by templates. It reads a line {template} and
// lines {inv, want}, and reports the answers that differ.
const oracle = "../../sdk/typescript/test/oracle.js"

// perTemplate is how many invocations each template wraps.
const perTemplate = 12

// TestTemplate compares the TypeScript package with Wrap: for every spec of the golden lines, every
// wrapper, and random invocations, the answers are equal.
func TestTemplate(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: the package's answers are not compared")
	}
	if testing.Short() {
		t.Skip("-short: the package's answers are not compared")
	}
	g := &invocations{Rand: rand.New(rand.NewPCG(7, 11)), rules: redact.Rules(), credentials: globsOf(t)}
	var in bytes.Buffer
	templates, answers, refused := 0, 0, 0
	cases := slices.Clone(wrapped)
	for _, doc := range []string{
		`{"access_mode": "read-only", "environment": {"set": {"DOCKER_HOST": "x", "PATH": "/bin", "TOKEN": "s3cret", "é": "漢"}}}`,
		`{"access_mode": "workspace-write", "environment": {"pass": ["*"]}}`,
		`{"access_mode": "read-only", "environment": {"pass": ["A*", "*_?OKEN", "DOCKER_*", "PATH"], "set": {"A": ""}}}`,
		`{"access_mode": "read-only", "environment": {"pass": []}}`,
		`{"access_mode": "workspace-write", "commands": {"allow": ["make"]}, "environment": {"pass": ["*"]}, "best_effort": ["*"]}`,
	} {
		c := wrapped[0]
		c.name, c.spec, c.on = "", doc, "all root"
		cases = append(cases, c)
	}
	for _, c := range cases {
		for _, on := range strings.Fields(c.on) {
			for _, name := range Wrappers() {
				w, err := made(t, on, name, c.spec, c.facts, c.mounts)
				if err != nil {
					continue // the spec requests more than the tool enforces
				}
				templates++
				left := []Lack{{"mounts[0].guestPath", "nothing stands there"}}
				template, err := AppendTemplate([]byte(`{"template": `), w, left)
				if err != nil {
					t.Fatal(err)
				}
				in.Write(append(template, "}\n"...))
				a := NewAnswers(w, left)
				for range perTemplate {
					inv := g.next(c.mounts)
					want, err := a.Append(nil, &inv)
					if err != nil {
						refused++
						want = problemsJSON(t, err)
					}
					answers++
					in.Write(caseJSON(t, &inv, want))
				}
			}
		}
	}
	if templates < 100 || refused < 50 || refused > answers/2 {
		t.Fatalf("%d templates, %d answers and %d refusals: the corpus tests little", templates, answers, refused)
	}
	cmd := exec.Command(node, oracle)
	cmd.Stdin = &in
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out[:min(len(out), 6000)])
	}
	var counted struct{ Templates, Same int }
	if err := json.Unmarshal(out, &counted); err != nil || counted.Templates != templates || counted.Same != answers {
		t.Errorf("of %d templates and %d answers it compared %s", templates, answers, out)
	}
}

// globsOf is the globs of names that look like credentials.
func globsOf(t *testing.T) []spec.CredentialName {
	t.Helper()
	r, err := world.Workstation(t).Resolve(`{"access_mode": "read-only"}`)
	if err != nil {
		t.Fatal(err)
	}
	return r.EnvironRules().Credentials
}

func problemsJSON(t *testing.T, err error) []byte {
	t.Helper()
	ps, ok := err.(spec.Problems)
	if !ok {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, p := range ps {
		all = append(all, map[string]string{"field": string(p.Field), "on": p.On, "reason": "cannot " + p.Do + ": " + p.Why, "help": p.Help})
	}
	b, err := json.Marshal(map[string]any{"problems": all})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// caseJSON returns a line for the oracle.
func caseJSON(t *testing.T, inv *Invocation, want []byte) []byte {
	t.Helper()
	env := map[string]string{}
	for _, v := range inv.Env {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	object := map[string]any{"cmd": inv.Cmd, "args": inv.Args, "env": env, "mounts": []any{}}
	if inv.Cwd != "" {
		object["cwd"] = inv.Cwd
	}
	mounts := []any{}
	for _, m := range inv.Mounts {
		mounts = append(mounts, map[string]string{"kind": "dir", "label": m.Label, "hostPath": m.HostPath, "guestPath": m.GuestPath, "mode": m.Mode.String()})
	}
	object["mounts"] = mounts
	b, err := json.Marshal(map[string]any{"inv": object, "want": json.RawMessage(want)})
	if err != nil {
		t.Fatalf("%v\n%s", err, want)
	}
	return append(b, '\n')
}

// TestAuditCut checks that each cut of an audit is at a character's boundary and of the right size,
// wherever it falls.
func TestAuditCut(t *testing.T) {
	w, err := made(t, "all", "bwrap", `{"access_mode": "read-only"}`, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"é", "漢", "😀"} {
		for shift := range 5 {
			for _, n := range []int{1 << 10, 8 << 10} {
				// A long credential comes before, so that text after the scan's limit moves into
				// it.
				for _, before := range []string{"", "https://u:" + strings.Repeat("p", 7700) + "@h/"} {
					arg := before + strings.Repeat("x", shift) + strings.Repeat(c, n/len(c))
					_, a, err := w.Wrap(Invocation{Cmd: "c", Args: []string{arg, "behind"}})
					if err != nil {
						t.Fatal(err)
					}
					got := a.WrappedArgs[len(a.WrappedArgs)-2]
					if !utf8.ValidString(got) || len(got) > maxAuditArg || !a.Truncated && n > maxAuditArg && before == "" {
						t.Errorf("%d of %q behind %d bytes: cut to %d bytes, truncated %v: …%q", n, c, len(before)+shift, len(got), a.Truncated, got[max(0, len(got)-12):])
					}
				}
			}
		}
	}
}
