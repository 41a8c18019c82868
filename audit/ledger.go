package audit

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// Ruling is the decision about a program that is about to start.
type Ruling uint8

// These are the rulings.
const (
	Proceed Ruling = iota // the program may start, and is charged
	Refuse                // EPERM: the budget is used up
	EndAll                // the supervisor ends the whole sandbox
)

// maxPrograms is how many names of programs a ledger counts separately; further ones count in
// the totals only.
const maxPrograms = 500

// Ledger counts the programs that the command and its descendants start, against the budget of
// the spec. The command itself is not charged. One thread uses it.
//
// A counter charges before it lets a program start, and takes the charge back if it sees that
// the program did not start. So never more programs start than are charged.
type Ledger struct {
	Max      spec.Opt[int] // max_commands; absent: any number
	OnExceed spec.OnExceed // zero is Deny
	// Own is how many programs were charged before Reach; absent if nothing can call Reach.
	Own spec.Opt[int]

	reached bool
	started int
	failed  int
	refused int
	names   map[string]*int
}

// Charge decides about the program at path before it starts. The path's bytes may change after
// the call.
func (l *Ledger) Charge(path string) Ruling {
	if l.Spent() {
		return l.Exceed()
	}
	l.started++
	l.own(1)
	l.name(path, 1)
	return Proceed
}

// Reach notes that a process inside has made a connection: from now on an agent may start
// programs that its model asked for.
func (l *Ledger) Reach() { l.reached = true }

// Alone reports whether Own still grows.
func (l *Ledger) Alone() bool { return l.Own.Set && !l.reached }

func (l *Ledger) own(n int) {
	if l.Alone() {
		l.Own.Value += n
	}
}

// Started returns how many were charged so far.
func (l *Ledger) Started() int { return l.started }

// Spent reports whether the budget is used up, so that the next Charge denies.
func (l *Ledger) Spent() bool {
	return l.Max.Set && l.started >= l.Max.Value && l.OnExceed != spec.RecordOnly
}

// Exceed counts a program beyond the budget and returns Refuse or EndAll.
func (l *Ledger) Exceed() Ruling {
	l.refused++
	if l.OnExceed == spec.Kill {
		return EndAll
	}
	return Refuse
}

// Return takes a charge back: the program did not start.
func (l *Ledger) Return(path string) {
	l.started--
	l.own(-1)
	l.failed++
	l.name(path, -1)
}

// Fail counts an attempt that failed by itself, such as one for a missing file.
func (l *Ledger) Fail() { l.failed++ }

// Forbid counts a program that a rule denied.
func (l *Ledger) Forbid() { l.refused++ }

// name adds n to the count of the program with the file name of path.
func (l *Ledger) name(path string, n int) {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if l.names == nil {
		l.names = map[string]*int{}
	}
	switch count := l.names[name]; {
	case count != nil: // not l.names[name] += n: that would keep the caller's bytes as the key
		*count += n
	case len(l.names) < maxPrograms:
		l.names[strings.Clone(name)] = &n
	}
}

// Commands is the final state of a ledger for the record.
type Commands struct {
	Attempted int // started, denied and failed
	Started   int // charged: commands_used
	Refused   int // denied by the budget or a rule
	Programs  []ProgramCount
	// Overcharged is how many were charged and did not start; set if the counter sees the
	// result of each exec.
	Overcharged spec.Opt[int]
	// Own is how many of Started the model of an agent cannot have asked for.
	Own spec.Opt[int]
	By  string // the counter: "notify", "ptrace", "outer supervisor"
}

// ProgramCount is how often a program was started, by its file name.
type ProgramCount struct {
	Name  string
	Count int
}

// shownPrograms is how many programs a record lists.
const shownPrograms = 50

// Commands returns the counts, the most used programs first.
func (l *Ledger) Commands(by string) Commands {
	c := Commands{Attempted: l.started + l.failed + l.refused, Started: l.started, Refused: l.refused, Own: l.Own, By: by}
	for name, n := range l.names {
		if *n > 0 {
			c.Programs = append(c.Programs, ProgramCount{name, *n})
		}
	}
	slices.SortFunc(c.Programs, func(x, y ProgramCount) int {
		if x.Count != y.Count {
			return y.Count - x.Count
		}
		return strings.Compare(x.Name, y.Name)
	})
	c.Programs = c.Programs[:min(len(c.Programs), shownPrograms)]
	return c
}

func (c *Commands) append(w *writer) {
	w.KeyOpen("commands", '{')
	w.KeyStr("by", c.By)
	w.KeyInt("attempted", int64(c.Attempted))
	w.KeyInt("started", int64(c.Started))
	w.KeyInt("refused", int64(c.Refused))
	keyOpt(w, "overcharged", c.Overcharged)
	keyOpt(w, "own", c.Own)
	if len(c.Programs) > 0 {
		doc.Objects(&w.Writer, "programs", c.Programs, func(p *ProgramCount) {
			w.KeyStr("name", p.Name)
			w.KeyInt("count", int64(p.Count))
		})
	}
	w.Close('}')
}
