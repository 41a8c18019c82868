package launch

import (
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// bytesAt reads what a word of a program points to.
func bytesAt(p uintptr, n int) string {
	at := *(*unsafe.Pointer)(unsafe.Pointer(&p))
	return string(unsafe.Slice((*byte)(at), n))
}

func wordAt(p uintptr, i int) uintptr {
	at := *(*unsafe.Pointer)(unsafe.Pointer(&p))
	return *(*uintptr)(unsafe.Add(at, i*8))
}

// Every kind of argument lands where the call will look for it.
func TestNewProgram(t *testing.T) {
	steps := []Step{
		{Call: 1, Args: [6]Arg{num(-100), word(1 << 63), kept(7), text("a path"), data("\x01\x00\x02"), {Kind: ArgBuffer, Num: 24}}, Save: 5, Expected: 2, Skip: 3},
		{Call: 2, Args: [6]Arg{vector([]string{"one", "", "three"}), vector(nil), {Kind: ArgFilter, Text: "eight by16 bytes"}, text(""), data("")}},
		{Call: 3, Do: DoSpawn, Args: [6]Arg{{}, {}, data("01234567----89")}, Patch: 9, At: 2, Off: 8},
	}
	p := newProgram(steps, reportFailedCommand)
	if len(p.ops) != 3 || p.failed != reportFailedCommand || p.pidfd != -1 {
		t.Fatalf("%+v", p)
	}
	a := p.ops[0].a
	if a[0] != ^uintptr(99) || a[1] != 1<<63 || a[2] != 7 {
		t.Errorf("numbers: %x", a)
	}
	if o := p.ops[0]; o.ref != 1<<2 || o.save != 5 || o.expected != 2 || o.skip != 3 || o.nr != 1 || o.patch != 0 {
		t.Errorf("%+v", o)
	}
	if got := bytesAt(a[3], 7); got != "a path\x00" {
		t.Errorf("text: %q", got)
	}
	if got := bytesAt(a[4], 3); got != "\x01\x00\x02" {
		t.Errorf("data: %q", got)
	}
	if got := bytesAt(a[5], 24); got != string(make([]byte, 24)) {
		t.Errorf("buffer: %q", got)
	}
	for i, at := range []uintptr{a[3], a[4], a[5]} {
		if at%8 != 0 {
			t.Errorf("argument %d is not aligned", i+3)
		}
	}
	a = p.ops[1].a
	for i, want := range []string{"one\x00", "\x00", "three\x00"} {
		if got := bytesAt(wordAt(a[0], i), len(want)); got != want {
			t.Errorf("vector %d: %q", i, got)
		}
	}
	if wordAt(a[0], 3) != 0 || wordAt(a[1], 0) != 0 {
		t.Error("a vector does not end in NULL")
	}
	if n := wordAt(a[2], 0) & 0xffff; n != 2 {
		t.Errorf("the filter has %d instructions", n)
	}
	if got := bytesAt(wordAt(a[2], 1), 16); got != "eight by16 bytes" {
		t.Errorf("filter: %q", got)
	}
	if got := bytesAt(a[3], 1); got != "\x00" {
		t.Errorf("an empty text: %q", got)
	}
	o := p.ops[2]
	if o.do != DoSpawn || o.patch != 9 || o.patchAt == nil {
		t.Fatalf("%+v", o)
	}
	*o.patchAt = 0x44434241
	if got := bytesAt(o.a[2], 14); got != "01234567ABCD89" {
		t.Errorf("a patched argument: %q", got)
	}
}

// Arguments do not move and do not overlap, however many and however long they are. The result
// does not depend on how many are added at once.
func TestNewProgramArena(t *testing.T) {
	long := func(i int) string {
		if i == 250 {
			return strings.Repeat("q", 2*arenaSize)
		}
		return strings.Repeat("p", i%37) + strconv.Itoa(i)
	}
	var steps []Step
	for i := range 500 {
		s := long(i)
		steps = append(steps, Step{Args: [6]Arg{text(s), data(s), vector([]string{s, s + "x"}), {Kind: ArgBuffer, Num: uintptr(i % 50)}, text(s + "y")}})
	}
	p := makeProgram(3, 1)
	for rest := steps; len(rest) > 0; {
		n := min(len(rest), 1+len(rest)%7)
		p.add(rest[:n])
		rest = rest[n:]
	}
	for i := range steps {
		s := long(i)
		a := p.ops[i].a
		if bytesAt(a[0], len(s)+1) != s+"\x00" || bytesAt(a[1], len(s)) != s || bytesAt(wordAt(a[2], 1), len(s)+2) != s+"x\x00" || bytesAt(a[4], len(s)+2) != s+"y\x00" {
			t.Fatalf("step %d is not what was put there: %q %q %q %q, want %q", i, bytesAt(a[0], len(s)+1), bytesAt(a[1], len(s)), bytesAt(wordAt(a[2], 1), len(s)+2), bytesAt(a[4], len(s)+2), s)
		}
	}
}

// A program built step by step equals that of the whole list, since a failure is reported by
// its index.
func TestProgramByAndBy(t *testing.T) {
	plan := madeUp(t)
	in := input(plan, Options{Caller: Inherited()}, 9)
	whole := newProgram(loaded(plan, in).Setup, reportFailedSetup)
	p := makeProgram(stepsOf(plan), reportFailedSetup)
	l := &mountList{list: list{out: p}}
	l.setup(plan, in)
	l.spawn(plan, in)
	l.flush()
	if len(p.ops) != len(whole.ops) || len(p.ops) < 50 {
		t.Fatalf("%d steps, and %d at once", len(p.ops), len(whole.ops))
	}
	for i := range p.ops {
		a, b := p.ops[i], whole.ops[i]
		if (a.patchAt == nil) != (b.patchAt == nil) {
			t.Errorf("step %d: %+v, and at once %+v", i, a, b)
		}
		a.a, a.patchAt, b.patchAt = b.a, nil, nil // pointers
		if a != b {
			t.Errorf("step %d: %+v, and at once %+v", i, a, b)
		}
	}
}
