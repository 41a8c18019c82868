package audit

import (
	"fmt"
	"testing"
	"unsafe"

	"sbx/spec"
)

func TestLedger(t *testing.T) {
	for _, row := range []struct {
		max      spec.Opt[int]
		on       spec.OnExceed
		want     string // the rulings on four programs
		started  int
		refused  int
		attempts int
	}{
		{spec.Opt[int]{}, 0, "0000", 4, 0, 4},
		{spec.Some(0), 0, "1111", 0, 4, 4},
		{spec.Some(1), spec.Deny, "0111", 1, 3, 4},
		{spec.Some(2), spec.Deny, "0011", 2, 2, 4},
		{spec.Some(4), spec.Deny, "0000", 4, 0, 4},
		{spec.Some(3), spec.Kill, "0002", 3, 1, 4},
		{spec.Some(1), spec.RecordOnly, "0000", 4, 0, 4},
	} {
		l := Ledger{Max: row.max, OnExceed: row.on}
		got := ""
		for range 4 {
			got += fmt.Sprint(uint8(l.Charge("/bin/true")))
		}
		c := l.Commands("notify")
		if got != row.want || c.Started != row.started || c.Refused != row.refused || c.Attempted != row.attempts {
			t.Errorf("%+v: %s, %+v", row, got, c)
		}
	}
}

// A charge that was taken back can be used again, and leaves no name.
func TestLedgerReturn(t *testing.T) {
	l := Ledger{Max: spec.Some(1)}
	l.Charge("/bin/a")
	l.Return("/bin/a")
	l.Fail()
	if l.Charge("/usr/bin/b") != Proceed || l.Charge("b") != Refuse {
		t.Error("the charge was not taken back")
	}
	c := l.Commands("")
	if len(c.Programs) != 1 || c.Programs[0] != (ProgramCount{"b", 1}) || c.Attempted != 4 || c.Started != 1 || c.Refused != 1 {
		t.Errorf("%+v", c)
	}
}

// Own counts the programs charged, and not taken back, before the first connect. It is absent if
// nothing reports connects.
func TestLedgerOwn(t *testing.T) {
	for _, asked := range []bool{true, false} {
		l := Ledger{Max: spec.Some(4)}
		if asked {
			l.Own = spec.Some(0)
		}
		l.Charge("/bin/a")
		l.Charge("/bin/a")
		l.Return("/bin/a")
		l.Charge("/bin/b")
		if l.Alone() != asked {
			t.Errorf("alone %v, want %v", l.Alone(), asked)
		}
		l.Reach()
		l.Charge("/bin/c")
		l.Return("/bin/c")
		l.Charge("/bin/d")
		want := spec.Opt[int]{}
		if asked {
			want = spec.Some(2)
		}
		if c := l.Commands(""); c.Own != want || c.Started != 3 || l.Alone() {
			t.Errorf("asked %v: %+v", asked, c)
		}
	}
}

func TestLedgerIsBounded(t *testing.T) {
	var l Ledger
	for i := range 3 * maxPrograms {
		l.Charge(fmt.Sprint("/bin/p", i))
	}
	l.Charge("/bin/p7")
	c := l.Commands("")
	if len(l.names) != maxPrograms || len(c.Programs) != shownPrograms || c.Programs[0] != (ProgramCount{"p7", 2}) || c.Started != 3*maxPrograms+1 {
		t.Errorf("%d names, %d shown, first %v, started %d", len(l.names), len(c.Programs), c.Programs[0], c.Started)
	}
}

// A path may lie in a buffer that the caller uses again.
func TestLedgerKeepsNoPath(t *testing.T) {
	var l Ledger
	buf := []byte("/bin/echo")
	l.Charge(unsafe.String(&buf[0], len(buf)))
	l.Charge(unsafe.String(&buf[0], len(buf)))
	copy(buf, "/bin/true")
	l.Charge(unsafe.String(&buf[0], len(buf)))
	if c := l.Commands(""); len(c.Programs) != 2 || c.Programs[0] != (ProgramCount{"echo", 2}) {
		t.Errorf("%+v", c.Programs)
	}
}
