package wrap_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sbx/internal/view"
	"sbx/wrap"
)

// followed returns a document with an advised line put into it to the letter.
func followed(t *testing.T, doc, line string) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(doc), &all); err != nil {
		t.Fatal(err)
	}
	field, text, _ := strings.Cut(line, ": ")
	var value any
	if mount, ok := strings.CutSuffix(field, ".mode"); ok && strings.HasSuffix(mount, "]") {
		mounts := all["filesystem"].(map[string]any)["mounts"].([]any)
		mounts[wrap.ItemOf(mount)].(map[string]any)["mode"] = text
		field = ""
	} else if json.Unmarshal([]byte(text), &value) != nil {
		value = text
	}
	at := all
	for field != "" {
		name, rest, deeper := strings.Cut(field, ".")
		if !deeper {
			at[name] = value
			break
		}
		if at[name] == nil {
			at[name] = map[string]any{}
		}
		at, field = at[name].(map[string]any), rest
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Following the advice again and again leads in at most three steps to a document that allows the
// act. The advice says so if it opens a directory above the requested path.
func TestAdviceConverges(t *testing.T) {
	n, advised, denied := 0, 0, 0
	lines := map[string]int{}
	r := random{rand.New(rand.NewPCG(11, 3))}
	eachPlan(t, 11, func(t *testing.T, c *planned) {
		if n++; n%8 != 0 || c.err != nil || c.plan.Base == wrap.BaseHost {
			return
		}
		paths := slices.Sorted(maps.Keys(c.w.Nodes))
		for range 4 {
			act := wrap.Act{wrap.ToRead + wrap.ActKind(r.IntN(int(wrap.ToConnect))), paths[r.IntN(len(paths))]}
			if act.Kind == wrap.ToMake || act.Kind == wrap.ToLink {
				act.Path = strings.TrimSuffix(act.Path, "/") + "/" + r.one("new", "new", ".git", ".mcp.json")
			}
			if act.Kind == wrap.ToMake && (c.w.Nodes[act.Path].Kind != wrap.Absent || c.plan.IsMountPoint(act.Path)) {
				act.Kind = wrap.ToWrite
			}
			if c.plan.Allows(act) {
				continue
			}
			denied++
			if e := c.plan.Explain(c.r, act); e.Rule == "" {
				t.Errorf("%v is denied by nothing", act)
			}
			doc, p, res, h := c.doc, c.plan, c.r, c.h
			for step := 0; !p.Allows(act); step++ {
				a := wrap.Adviser{Plan: p, Resolved: res, Host: h, Request: c.w.Req}
				advice := a.Advise(act)
				if advice.Line == "" && step == 0 {
					break
				}
				if advice.Line == "" || step == 3 {
					t.Errorf("%v, step %d, %s: no way on", act, step, doc)
					break
				}
				was := p
				advised++
				field, _, _ := strings.Cut(advice.Line, ":")
				lines[field]++
				doc = followed(t, doc, advice.Line)
				var err error
				if res, err = c.w.Resolve(doc); err != nil {
					t.Errorf("%v: %s is refused: %v", act, advice.Line, err)
					break
				}
				h = c.w.Probed(res)
				if p, err = wrap.Build(res, h, c.w.Req); err != nil {
					t.Errorf("%v: %s: no plan: %v", act, advice.Line, err)
					break
				}
				for up := act.Path; up != "/"; {
					up = view.Parent(up)
					if p.Writes(up) && !was.Writes(up) && (advice.Opens == "" || !view.Within(up, advice.Opens)) {
						t.Errorf("%v: %s opens %s, and says %q", act, advice.Line, up, advice.Opens)
						break
					}
				}
			}
		}
	})
	if advised < denied/4 || len(lines) < 3 {
		t.Errorf("of %d acts that were denied only %d had advice: %v", denied, advised, lines)
	}
}
