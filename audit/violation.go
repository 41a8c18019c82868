package audit

import (
	"time"

	"sbx/wrap"
)

// maxViolations is how many different violations a record lists.
const maxViolations = 200

// Violation is a denied call, or something else that should not have happened. Fields that nobody
// saw are zero and left out of the record.
type Violation struct {
	Kind      string // filesystem, network, command, syscall, limit, tool
	At        time.Time
	PID       int
	Program   string
	Action    string // the attempted operation: "open for writing", "connect"
	Target    string // the operation's object
	Host      string // of the target, if that is a host and a port
	Port      int
	Rule      string // the line of the spec that denied it
	AllowWith string // the line that would allow it
	Opens     string // a directory that this line opens as a whole, if that is not the target
	Count     int    // how often; 0 means once

	// Act is the act for which AllowWith and Opens are found at the end; zero if they are known.
	Act wrap.Act
}

// Violations collects violations in bounded space. It counts violations that are alike on the
// first of them, whose time and pid it keeps.
type Violations struct {
	list    []Violation
	index   map[alike]int
	omitted int
}

// alike is what two violations must have in common to be one line of a record.
type alike struct{ kind, program, action, target, rule, allow string }

// Add adds a violation.
func (vs *Violations) Add(v Violation) {
	v.Kind, v.Program, v.Action = Clip(v.Kind), Clip(v.Program), Clip(v.Action)
	v.Target, v.Rule, v.AllowWith, v.Opens = Clip(v.Target), Clip(v.Rule), Clip(v.AllowWith), Clip(v.Opens)
	v.Host = Clip(v.Host)
	v.Count = max(v.Count, 1)
	k := alike{v.Kind, v.Program, v.Action, v.Target, v.Rule, v.AllowWith}
	if i, ok := vs.index[k]; ok {
		vs.list[i].Count += v.Count
		return
	}
	if len(vs.list) == maxViolations {
		vs.omitted += v.Count
		return
	}
	if vs.index == nil {
		vs.index = map[alike]int{}
	}
	vs.index[k] = len(vs.list)
	vs.list = append(vs.list, v)
}

// Advise fills in the lines of the spec that would allow the listed violations.
func (vs *Violations) Advise(on func(wrap.Act) wrap.Advice) {
	for i := range vs.list {
		if v := &vs.list[i]; v.Act.Kind != 0 {
			advice := on(v.Act)
			v.AllowWith, v.Opens = Clip(advice.Line), Clip(advice.Opens)
		}
	}
}

// Omit counts violations that are left out on purpose.
func (vs *Violations) Omit(n int) { vs.omitted += n }

// List returns the violations in the order in which they were first seen, and how many more there
// were.
func (vs *Violations) List() (list []Violation, omitted int) { return vs.list, vs.omitted }

// Total returns how many violations there were, counting those that are alike.
func (vs *Violations) Total() int {
	n := vs.omitted
	for i := range vs.list {
		n += vs.list[i].Count
	}
	return n
}

// Clip cuts a string to a little more than a record keeps, so that Kept cuts it again and marks
// that.
func Clip(s string) string {
	if len(s) <= maxString {
		return s
	}
	// A copy, so that the long one is not kept.
	return string(append([]byte(nil), s[:maxString+1]...))
}

func (v *Violation) append(w *writer) {
	w.KeyStr("kind", v.Kind)
	w.keyTime("at", v.At)
	w.KeyCount("pid", int64(v.PID))
	w.KeyText("program", v.Program)
	w.KeyText("action", v.Action)
	w.KeyText("target", v.Target)
	w.KeyText("host", v.Host)
	w.KeyCount("port", int64(v.Port))
	w.KeyText("rule", v.Rule)
	w.KeyText("allow_with", v.AllowWith)
	w.KeyText("opens", v.Opens)
	w.KeyInt("count", int64(max(v.Count, 1)))
}
