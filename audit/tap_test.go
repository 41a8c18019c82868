package audit

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit/agent"
	"sbx/internal/dirs/dirstest"
	"sbx/spec"
)

// tapped is a tap between two pipes: agent writes, reader reads.
type tapped struct {
	t             *testing.T
	tap           *Tap
	agent, reader *os.File
}

func newTapped(t *testing.T, a spec.Agent, flags int) *tapped {
	t.Helper()
	var out [2]int
	if err := unix.Pipe2(out[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	if flags != 0 { // of the caller's end, whose flags nobody else may change
		if err := unix.SetNonblock(out[1], true); err != nil {
			t.Fatal(err)
		}
	}
	tap, write, err := NewTap(func(h agent.Hooks) (*agent.Stream, bool) { return agent.New(a, h) }, out[1])
	if err != nil {
		t.Fatal(err)
	}
	x := &tapped{t, tap, os.NewFile(uintptr(write), "agent"), os.NewFile(uintptr(out[0]), "reader")}
	tap.Start()
	t.Cleanup(func() {
		x.agent.Close()
		x.reader.Close() // closed first: a tap that waits for its reader ends then
		x.wait()
		tap.Close()
		unix.Close(out[1])
	})
	return x
}

// wait waits for the end of the stream.
func (x *tapped) wait() {
	x.t.Helper()
	for end := time.Now().Add(30 * time.Second); !x.tap.Done(); {
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(x.tap.Wake), Events: unix.POLLIN}}, 100)
		if time.Now().After(end) {
			x.t.Fatal("the tap does not come to its end")
		}
	}
}

// say writes b in pieces, and then closes the agent's end.
func (x *tapped) say(b []byte, piece func() int) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer x.agent.Close()
		for len(b) > 0 {
			n := min(len(b), piece())
			if _, err := x.agent.Write(b[:n]); err != nil {
				done <- err
				return
			}
			b = b[n:]
		}
		done <- nil
	}()
	return done
}

// all returns the bytes that arrive at the reader, read in pieces.
func (x *tapped) all(want int, piece func() int) []byte {
	x.t.Helper()
	var got []byte
	buf := make([]byte, 1<<20)
	for len(got) < want {
		n, err := x.reader.Read(buf[:piece()])
		if err != nil {
			x.t.Fatalf("after %d of %d bytes: %v", len(got), want, err)
		}
		got = append(got, buf[:n]...)
	}
	return got
}

func streams(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("agent/testdata/*.jsonl")
	if err != nil || len(names) < 10 {
		t.Fatalf("%v, %v", names, err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = b
	}
	return all
}

// Every byte passes unchanged, however the stream is cut into pieces, and the reader of the stream
// finds the same as in the whole text.
func TestTapPassesEveryByte(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 700_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	samples := streams(t)
	samples["claude-noise"] = noise
	samples["codex-empty"] = nil
	samples["gemini-no-newline"] = []byte(`{"type":"init"`)
	for name, text := range samples {
		a := map[byte]spec.Agent{'l': spec.Claude, 'o': spec.Codex, 'e': spec.Gemini}[name[1]]
		for what, piece := range map[string]func() int{
			"at once":   func() int { return len(text) },
			"in pieces": func() int { return 1 + rnd.IntN(5000) },
			"odd":       func() int { return 1 + rnd.IntN(1+rnd.IntN(200_000)) },
		} {
			if len(text) < 10_000 && what == "in pieces" {
				piece = func() int { return 1 + rnd.IntN(7) }
			}
			x := newTapped(t, a, 0)
			said := x.say(text, piece)
			got := x.all(len(text), func() int { return 1 << 20 })
			if err := <-said; err != nil {
				t.Fatalf("%s %s: %v", name, what, err)
			}
			x.wait()
			if !bytes.Equal(got, text) {
				t.Fatalf("%s %s: %d bytes came of %d, or others", name, what, len(got), len(text))
			}
			whole, _ := agent.New(a, agent.Hooks{})
			whole.Write(text)
			whole.Close()
			x.tap.With(func(s *agent.Stream) {
				if !reflect.DeepEqual(s.Summary(), whole.Summary()) {
					t.Errorf("%s %s: read %+v, want %+v", name, what, s.Summary(), whole.Summary())
				}
			})
		}
	}
}

// Each byte that the agent writes passes before its line is complete.
func TestTapHoldsNothingBack(t *testing.T) {
	x := newTapped(t, spec.Claude, 0)
	for _, part := range []string{`{"type":`, `"sys`, "tem\"}\n", "no", " newline"} {
		if _, err := x.agent.WriteString(part); err != nil {
			t.Fatal(err)
		}
		if got := x.all(len(part), func() int { return 100 }); string(got) != part {
			t.Fatalf("%q came, want %q", got, part)
		}
	}
}

// A slow reader slows the agent down: the tap takes no more than the buffers hold, and loses
// nothing. The same goes for a stdout that does not block.
func TestTapSlowReader(t *testing.T) {
	for name, flags := range map[string]int{"blocking": 0, "not blocking": unix.O_NONBLOCK} {
		x := newTapped(t, spec.Claude, flags)
		line := []byte(`{"type":"user","message":"` + strings.Repeat("x", 997) + "\"}\n")
		text := bytes.Repeat(line, 20<<20/len(line))
		said := x.say(text, func() int { return 64 << 10 })
		// Once the buffers are full nothing passes, however long the test waits.
		full := time.After(300 * time.Millisecond)
		select {
		case err := <-said:
			t.Fatalf("%s: 20 MiB were taken while nobody read: %v", name, err)
		case <-full:
		}
		got := x.all(len(text), func() int { return 1 << 20 })
		if err := <-said; err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, text) {
			t.Errorf("%s: other bytes came", name)
		}
	}
}

// If nobody reads, the agent gets the same error as without a tap.
func TestTapReaderGone(t *testing.T) {
	for name, flags := range map[string]int{"blocking": 0, "not blocking": unix.O_NONBLOCK} {
		x := newTapped(t, spec.Codex, flags)
		said := x.say(bytes.Repeat([]byte("{\"type\":\"turn.started\"}\n"), 1<<20), func() int { return 10_000 })
		x.all(100_000, func() int { return 10_000 })
		x.reader.Close()
		if err := <-said; err == nil || !strings.Contains(err.Error(), "broken pipe") {
			t.Errorf("%s: the agent got %v, want a broken pipe", name, err)
		}
		x.wait()
	}
}

// A line of 5 MiB passes without being parsed, is counted, and hides no line after it.
func TestTapLongLine(t *testing.T) {
	x := newTapped(t, spec.Gemini, 0)
	text := []byte(`{"type":"message","role":"assistant","content":"` + strings.Repeat("a", 5<<20) + "\"}\n")
	text = append(text, streams(t)["gemini-basic.jsonl"]...)
	said := x.say(text, func() int { return 100_000 })
	got := x.all(len(text), func() int { return 1 << 20 })
	if err := <-said; err != nil || !bytes.Equal(got, text) {
		t.Fatalf("%v, %d bytes of %d", err, len(got), len(text))
	}
	x.wait()
	x.tap.With(func(s *agent.Stream) {
		sum := s.Summary()
		if !sum.Turns.Set || sum.Turns.Value == 0 || len(sum.Tools.Value) == 0 {
			t.Errorf("what came behind it is not read: %+v", sum)
		}
		for _, u := range sum.Unseen {
			if u.What == "lines" && strings.HasPrefix(u.Why, "1 longer than 4 MiB") {
				return
			}
		}
		t.Errorf("the line is not counted: %+v", sum.Unseen)
	})
}

// Each turn and each wish is reported, and the end last. None is lost if the listener is late: the
// agent waits then.
func TestTapEvents(t *testing.T) {
	const n = 3 * maxTapEvents
	x := newTapped(t, spec.Claude, 0)
	var text bytes.Buffer
	for i := range n {
		id := string(rune('a'+i%26)) + strings.Repeat("i", 1+i/26%50) + strings.Repeat("j", 1+i/1300)
		text.WriteString(`{"type":"assistant","message":{"id":"m` + id + `","role":"assistant","content":[{"type":"tool_use","id":"t` + id + `","name":"Read","input":{"file_path":"/x"}}]}}` + "\n")
	}
	said := x.say(text.Bytes(), func() int { return 50_000 })
	got := make(chan []byte)
	go func() { got <- x.all(text.Len(), func() int { return 1 << 20 }) }()
	turns, wishes, done := 0, 0, false
	for end := time.Now().Add(30 * time.Second); !done && time.Now().Before(end); {
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(x.tap.Wake), Events: unix.POLLIN}}, 1000)
		time.Sleep(time.Millisecond) // the listener is late
		for _, e := range x.tap.Next() {
			switch {
			case done:
				t.Fatalf("%+v comes after the end", e)
			case e.Turn > 0:
				if turns++; e.Turn != turns {
					t.Fatalf("turn %d is told as %d", turns, e.Turn)
				}
			case e.Wish != nil:
				if wishes++; e.Wish.Name != "Read" {
					t.Fatalf("%+v", e.Wish)
				}
			case e.Done:
				done = true
			}
		}
	}
	if err := <-said; err != nil || !bytes.Equal(<-got, text.Bytes()) {
		t.Errorf("%v, or other bytes", err)
	}
	if turns != n || wishes != n || !done {
		t.Errorf("%d turns and %d wishes of %d, end %v", turns, wishes, n, done)
	}
}

func TestTapLeavesNothingOpen(t *testing.T) {
	before := dirstest.OpenFDs(t)
	t.Run("one", func(t *testing.T) {
		x := newTapped(t, spec.Claude, 0)
		x.agent.WriteString("{}\n")
		x.agent.Close()
		x.wait()
	})
	if after := dirstest.OpenFDs(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
	if _, _, err := NewTap(func(h agent.Hooks) (*agent.Stream, bool) { return agent.New(spec.NoAgent, h) }, 1); err == nil {
		t.Error("nobody's stream is tapped")
	}
	if after := dirstest.OpenFDs(t); after != before {
		t.Errorf("%d descriptors after an error, %d before", after, before)
	}
}
