package agent

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"sbx/spec"
)

// TestCutAnywhere checks that it does not matter how the bytes are cut.
func TestCutAnywhere(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.jsonl")
	for _, file := range files {
		a := agentOf(t, filepath.Base(file))
		b := load(t, file)
		whole := summaryOf(t, a, string(b))
		for _, size := range []int{1, 2, 3, 7, 64, 1000, 4096} {
			s, _ := New(a, Hooks{})
			for p := b; len(p) > 0; {
				n := min(size, len(p))
				// a copy that is overwritten: the reader must keep no reference to it
				chunk := bytes.Clone(p[:n])
				s.Write(chunk)
				clear(chunk)
				p = p[n:]
			}
			s.Close()
			if got := s.Summary(); !reflect.DeepEqual(got, whole) {
				t.Errorf("%s in pieces of %d: %+v, want %+v", file, size, got, whole)
			}
		}
	}
}

// TestHooks checks that each hook is called once, in order, at the first sign.
func TestHooks(t *testing.T) {
	var got []string
	hooks := Hooks{
		Turn: func(n int) { got = append(got, fmt.Sprint("turn ", n)) },
		Tool: func(w Wish) { got = append(got, fmt.Sprint(w.Name, " ", w.As, " ", w.Targets)) },
	}
	cases := []struct {
		file string
		want string
	}{
		{"claude-denied.jsonl", "turn 1; Bash [Bash] [ls | wc -l; git status --short; cat README.md]; " +
			"turn 2; Write [Write] [/home/user/project/NOTE.txt]; " +
			"turn 3; Read [Read] [/home/user/project/NOTE.txt]; turn 4"},
		{"claude-subagent.jsonl", "turn 1; Agent [Task] [general-purpose]; Bash [Bash] [echo child]; " +
			"turn 2; Bash [Bash] [echo parent]; turn 3"},
		{"codex-basic.jsonl", "command_execution [Bash] [ls | wc -l; git status --short; cat README.md]; " +
			"file_change [Write] [/home/user/project/NOTE.txt]; " +
			"command_execution [Bash] [cat 'NOTE.txt']"},
		{"gemini-max-turns.jsonl", "turn 1; run_shell_command [Bash] [echo 1]; " +
			"turn 2; run_shell_command [Bash] [echo 2]"},
	}
	for _, c := range cases {
		got = nil
		s, _ := New(agentOf(t, c.file), hooks)
		s.Write(load(t, "testdata/"+c.file))
		s.Close()
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.file, text, c.want)
		}
	}
}

// An event is reported after its line is complete, not before.
func TestATurnIsToldWithItsLine(t *testing.T) {
	turns := 0
	s, _ := New(spec.Claude, Hooks{Turn: func(n int) { turns = n }})
	line := said("a", "null", "")
	s.Write([]byte(line[:len(line)-1]))
	if turns != 0 {
		t.Error("told before the line ended")
	}
	s.Write([]byte("\n"))
	if turns != 1 {
		t.Error("not told as the line ended")
	}
}

// TestLongLine checks that a line above the bound is skipped, in pieces or whole, and that the
// lines around it are read.
func TestLongLine(t *testing.T) {
	long := said("b", "null", `{"type":"text","text":"`+strings.Repeat("x", maxLine)+`"}`)
	text := said("a", "null", "") + long + said("c", "null", "") + long + said("d", "null", "") + strings.TrimSuffix(long, "\n")
	for _, size := range []int{1 << 10, 64 << 10, len(text)} {
		s, _ := New(spec.Claude, Hooks{})
		for p := []byte(text); len(p) > 0; {
			n := min(size, len(p))
			s.Write(p[:n])
			p = p[n:]
		}
		s.Close()
		sum := s.Summary()
		if sum.Turns.Value != 3 || sum.Unseen[len(sum.Unseen)-1] != (Unseen{"lines", "3 longer than 4 MiB and not read"}) {
			t.Errorf("in pieces of %d: %d turns, %q", size, sum.Turns.Value, sum.Unseen)
		}
	}
	fits := said("b", "null", `{"type":"text","text":"`+strings.Repeat("x", maxLine-200)+`"}`)
	if sum := summaryOf(t, spec.Claude, fits); sum.Turns.Value != 1 {
		t.Error("a line just below the bound is not read")
	}
}

// TestBounds checks that endless names, ids and calls are bounded, and that the summary says so.
func TestBounds(t *testing.T) {
	var b strings.Builder
	for i := range 3 * maxTools {
		fmt.Fprintf(&b, "%s", said(fmt.Sprint("m", i), "null", use(fmt.Sprint("id", i), fmt.Sprint("Tool", i, strings.Repeat("y", maxName)), "ls")))
	}
	sum := summaryOf(t, spec.Claude, b.String())
	if len(sum.Tools.Value) != maxTools || sum.Turns.Value != 3*maxTools {
		t.Errorf("%d tools, %d turns", len(sum.Tools.Value), sum.Turns.Value)
	}
	if name := sum.Tools.Value[0].Name; len(name) != maxName {
		t.Errorf("a name of %d bytes", len(name))
	}
	var whys []string
	for _, u := range sum.Unseen {
		whys = append(whys, u.What+": "+u.Why)
	}
	text := strings.Join(whys, "\n")
	for _, part := range []string{"tools: 400 calls or blocks", "tools: 88 calls whose result"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not said in\n%s", part, text)
		}
	}
}

// TestBlocks has a message with more blocks than are read.
func TestBlocks(t *testing.T) {
	block := use("x", "Bash", "ls") + ","
	sum := summaryOf(t, spec.Claude, said("a", "null", strings.Repeat(block, maxBlocks+10)+use("y", "Read", "")))
	if sum.Turns.Value != 1 || len(sum.Tools.Value) != 1 || !strings.HasPrefix(sum.Unseen[len(sum.Unseen)-1].Why, "11 calls or blocks") {
		t.Errorf("%+v", sum)
	}
}

// TestDeepNesting checks that depth costs neither memory nor stack.
func TestDeepNesting(t *testing.T) {
	deep := strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20)
	text := said("a", "null", `{"type":"tool_use","id":"x","name":"Write","input":{"a":`+deep+`,"file_path":"f"}}`) + claudeEnd
	if sum := summaryOf(t, spec.Claude, text); len(sum.Tools.Value) != 1 || sum.Tools.Value[0].Asked != 1 || !sum.End.Set {
		t.Errorf("%+v", sum)
	}
}

// TestMemory checks that a hostile stream makes the reader hold no more than 8 MiB.
func TestMemory(t *testing.T) {
	s, _ := New(spec.Claude, Hooks{})
	r := NewRollout(Hooks{})
	before := heap()
	id := strings.Repeat("i", 10_000)
	for i := range 3000 {
		s.Write([]byte(said(fmt.Sprint(i, id), "null", use(fmt.Sprint(i, id), fmt.Sprint(i, id), id))))
		r.Write([]byte(`{"type":"response_item","payload":{"type":"function_call","name":"` + fmt.Sprint(i, id) + `","call_id":"` + fmt.Sprint(i, id) + `"}}` + "\n"))
	}
	s.Write(bytes.Repeat([]byte("x"), maxLine))
	r.Write(bytes.Repeat([]byte("x"), maxRollout))
	if used := heap() - before; used > 8<<20 {
		t.Errorf("%d bytes are held", used)
	}
	runtime.KeepAlive(s)
	runtime.KeepAlive(r)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
