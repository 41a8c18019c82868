package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestPairs runs random pairs of documents in real sandboxes: what both together let a command do
// is no more than what either lets it do, whether they are given together or the second is used
// inside a sandbox of the first. All of it runs behind a fence, so that a leak does no harm.
// SBX_TEST_PAIRS is the number of pairs, SBX_TEST_SEED the first seed; SBX_TEST_PAIRS_VERBOSE
// prints every pair.
func TestPairs(t *testing.T) {
	needSandbox(t)
	root := elsewhere
	if root == "" {
		lacks(t, "there is no directory that no private directory covers (SBX_TEST_ELSEWHERE)")
	}
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	pairs, seed := number("SBX_TEST_PAIRS", 48), number("SBX_TEST_SEED", 1)
	t.Logf("%d pairs from seed %d", pairs, seed)
	const lanes = 2
	var sum pairSum
	for lane := range lanes {
		t.Run("lane"+strconv.Itoa(lane), func(t *testing.T) {
			w := newPairWorld(t, root)
			for i := lane; i < pairs && w.wrong < 5; i += lanes {
				w.pair(&sum, uint64(seed+i))
			}
		})
	}
	for _, what := range slices.Sorted(maps.Keys(sum.counts)) {
		t.Logf("%5d %s", sum.counts[what], what)
	}
	if pairs >= 40 && (sum.counts["both start"] < pairs/8 || sum.counts["nested starts"] < pairs/8) {
		t.Errorf("too few of %d pairs start: the test tests nothing", pairs)
	}
}

// pairSum counts the results of pairs.
type pairSum struct {
	sync.Mutex
	counts map[string]int
}

func (s *pairSum) add(what string) {
	s.Lock()
	defer s.Unlock()
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	s.counts[what]++
}

// can is what a command could do: facts, each in the probe's words.
type can map[string]string

func (w *pairWorld) pair(sum *pairSum, seed uint64) {
	m := &pairMaker{rand.New(rand.NewPCG(seed, 7)), w.base}
	parent, child := m.document(false), m.document(true)
	w.job = nil
	if m.chance(8) {
		w.job = []string{"--input", w.base + "/o", "--output", w.base + "/m"}
	}
	told := fmt.Sprintf("seed %d\nparent %s\nchild  %s\njob    %s", seed, parent, child, w.job)
	verbose := os.Getenv("SBX_TEST_PAIRS_VERBOSE") != ""
	if verbose {
		w.t.Log(told)
	}
	one, err := w.reach(seed, parent)
	if err != "" {
		sum.add("the parent does not start")
		return
	}
	both, err := w.reach(seed, parent, child)
	alone, aloneErr := w.reach(seed, w.alone(parent, child))
	inside, whole, insideErr := w.nested(seed, parent, child)
	switch {
	case err == "":
		sum.add("both start")
		w.within(told, "both, against the parent", both, one)
		if aloneErr == "" {
			w.within(told, "both, against the child", asked(both, parent, child), alone)
		}
	case strings.Contains(err, "ask for no more than"):
		field := strings.FieldsFunc(strings.TrimPrefix(err, "sbx: "), func(r rune) bool { return strings.ContainsRune(" [:", r) })[0]
		if aloneErr != "" {
			sum.add("escalation, and the child alone does not start")
		} else if more := beyond(alone, one); len(more) > 0 {
			sum.add("escalation, and the child alone can do more")
		} else {
			sum.add("escalation by rule: " + field)
			if verbose {
				w.t.Logf("%s\nby rule alone: %s", told, err)
			}
		}
	default:
		sum.add("refused for another reason")
		if verbose {
			w.t.Logf("refused: %s", err)
		}
	}
	if insideErr != "" {
		sum.add("nested is refused")
		if verbose {
			w.t.Logf("nested: %s", insideErr)
		}
		return
	}
	sum.add("nested starts")
	// A program gives its own children any variables it likes.
	maps.DeleteFunc(inside, func(fact, _ string) bool { return strings.HasPrefix(fact, "env ") })
	w.within(told, "nested, against the parent", inside, one)
	if whole && aloneErr == "" && w.job == nil {
		sum.add("nested, all of it enforced")
		maps.DeleteFunc(inside, func(fact, _ string) bool { return strings.HasPrefix(fact, "repository ") }) // never promised
		w.within(told, "nested, against the child", asked(inside, parent, child), alone)
	}
}

// alone returns the child's document as it counts under its parent: it starts in the parent's
// directory.
func (w *pairWorld) alone(parent, child string) string {
	var p, c map[string]any
	must(w.t, json.Unmarshal([]byte(parent), &p))
	must(w.t, json.Unmarshal([]byte(child), &c))
	for _, f := range []string{"sandbox", "working_dir"} {
		if c[f] == nil && p[f] != nil && (f == "sandbox" || c["sandbox"] == nil || p["sandbox"] != nil) {
			c[f] = p[f]
		}
	}
	text, err := json.Marshal(c)
	must(w.t, err)
	return string(text)
}

// asked returns the part of c on which the child's document decides. It inherits the rest: the
// files that a parent opens, except those that an access_mode of its own closes; the action when a
// budget is used up; and the variables that the parent sets.
func asked(c can, parent, child string) can {
	var p, d struct {
		Mode        string          `json:"access_mode"`
		OnExceed    string          `json:"on_exceed"`
		Sandbox     json.RawMessage `json:"sandbox"`
		Filesystem  struct{ Write, Mounts []any }
		Environment struct{ Set map[string]string }
	}
	json.Unmarshal([]byte(parent), &p)
	json.Unmarshal([]byte(child), &d)
	guards := func(mode string) bool { return mode == "read-only" || mode == "workspace-write" }
	brings := d.Sandbox != nil // a workshop, which shows only its tree and makes it writable
	inherits := !brings && !guards(d.Mode) && (guards(p.Mode) || p.Sandbox != nil || p.Filesystem.Write != nil || p.Filesystem.Mounts != nil)
	mounts := !brings && p.Filesystem.Mounts != nil && d.Filesystem.Mounts == nil // read-only then
	listed := d.Filesystem.Write != nil && !mounts && !strings.Contains(child, ".git") && !strings.Contains(child, ".envrc")
	c = maps.Clone(c)
	maps.DeleteFunc(c, func(fact, _ string) bool {
		what, name, _ := strings.Cut(fact, " ")
		switch what {
		case "env":
			_, set := p.Environment.Set[name]
			return set
		case "starts":
			return p.OnExceed == "record" && d.OnExceed == ""
		case "read", "talk":
			return inherits || mounts
		case "write", "make", "mode":
			return inherits && !listed
		case "repository":
			return inherits
		}
		return false
	})
	return c
}

// fenced returns a command behind the fence, in the project.
func (w *pairWorld) fenced(ctx context.Context, argv ...string) *exec.Cmd {
	argv = append([]string{w.base + "/bin/probe", "fence", w.base}, argv...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.WaitDelay = w.base+"/w", 2*time.Second
	cmd.Env = append(slices.Clone(w.env), "PAIR_A=a", "PAIR_B=b", "PAIR_NEW=n", "API_TOKEN=t", "LD_PRELOAD=")
	if cmd.SysProcAttr = ownNamespaces(); isRoot() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	}
	return cmd
}

func (w *pairWorld) reach(seed uint64, docs ...string) (can, string) {
	argv := append([]string{sbxPath, "exec", "-q", "--effective", w.base + "/state/pair.json"}, w.job...)
	for _, d := range docs {
		argv = append(argv, "--spec-json", d)
	}
	return w.look(append(append(argv, "--"), w.reacher(seed)...))
}

func (w *pairWorld) reacher(seed uint64) []string {
	bin := w.base + "/bin/"
	return []string{bin + "probe", "reach", w.list, "made-" + strconv.FormatUint(seed, 10), w.port, bin + "probe", bin + "tool", bin + "other/tool"}
}

func (w *pairWorld) look(argv []string) (can, string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	r := w.finish(w.fenced(ctx, argv...))
	if r.code != 0 && r.code != 124 {
		if r.code == 99 {
			w.t.Fatalf("%v", r)
		}
		return nil, strings.TrimSpace(r.err) + " (" + strconv.Itoa(r.code) + ")"
	}
	return w.facts(r.out), ""
}

// nested runs the child inside a sandbox of the parent, with best_effort; whole reports whether
// everything was enforced.
func (w *pairWorld) nested(seed uint64, parent, child string) (c can, whole bool, why string) {
	argv := append([]string{sbxPath, "exec", "-q", "--effective", w.base + "/state/pair.json"}, w.job...)
	argv = append(argv, "--spec-json", parent, "--",
		w.base+"/bin/probe", "nest", "/tmp", w.base+"/rec", "--", w.base+"/bin/sbx", "exec", "-q", "--best-effort", "*", "--spec-json", child, "--")
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	r := w.finish(w.fenced(ctx, append(argv, w.reacher(seed)...)...))
	out, text, ok := strings.Cut(r.out, "--- the inner record\n")
	if r.code != 0 && r.code != 124 || !ok {
		return nil, false, strings.TrimSpace(r.err) + r.out
	}
	var rec record
	must(w.t, json.Unmarshal([]byte(text), &rec))
	whole = true
	for _, l := range rec.list("enforcement") {
		f, s := l.text("field"), l.text("status")
		if s != "enforced" && f != "record" && f != "protected_names" && f != "new_protected_names" {
			whole = false
		}
	}
	return w.facts(out), whole, ""
}

// facts returns what the probe printed, except for the sandbox's own files.
func (w *pairWorld) facts(out string) can {
	c := can{}
	for _, l := range strings.Split(out, "\n") {
		f := strings.Split(l, "\t")
		switch f[0] {
		case "read":
			if strings.HasPrefix(f[2], "text of ") {
				c["read "+strings.TrimPrefix(f[2], "text of ")] = l
			}
		case "write", "make", "mode", "talk", "repository":
			if w.host[f[2]] {
				c[f[0]+" "+f[2]] = l
			}
		case "net", "env":
			c[f[0]+" "+f[1]] = l
		case "starts", "files":
			// A number includes all below it.
			n, _ := strconv.Atoi(f[len(f)-1])
			for i := 1; i <= min(n, 300); i++ {
				c[f[0]+" "+f[1][:len(f[1])*(len(f)-2)]+" "+strconv.Itoa(i)] = l
			}
		}
	}
	return c
}

// beyond returns what inner can and outer cannot.
func beyond(inner, outer can) []string {
	var more []string
	for fact, how := range inner {
		if _, ok := outer[fact]; !ok {
			more = append(more, fact+": "+how)
		}
	}
	slices.Sort(more)
	return more
}

func (w *pairWorld) within(told, what string, inner, outer can) {
	w.t.Helper()
	if more := beyond(inner, outer); len(more) > 0 {
		if len(more) > 12 {
			more = append(more[:12], "and more")
		}
		w.wrong++
		w.t.Errorf("%s", strings.ReplaceAll(told+"\n"+what+", more can be done:\n"+strings.Join(more, "\n"), w.base, "TREE"))
	}
}
