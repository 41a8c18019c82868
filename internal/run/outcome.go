package run

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// outcome is how the command ended: all that the exit status depends on.
type outcome struct {
	launch.Exit
	reason       string // why sbx ended the command; "" if it did not
	timedOut     bool
	killed       int  // processes that the supervisor killed because of limits.memory
	neverStarted bool // the tool that makes the sandbox did not start the command
	tooLarge     bool // the command was too large to be executed under limits.memory
}

// endedBy returns what ended the command, and the exit status.
func (o *outcome) endedBy() (by string, status int) {
	status = o.Code
	by = "command"
	if o.Signal != 0 {
		status = 128 + o.Signal
		by = "signal"
	}
	killed := 128 + int(unix.SIGKILL) // a shell ends with the status of its last command
	switch {
	case o.neverStarted:
		return "supervisor", StatusRefused
	case o.reason != "":
		return o.reason, StatusEnded
	case o.timedOut:
		return "timeout", StatusEnded
	case !o.Known: // a process outside killed pid 1
		return "supervisor", killed
	case o.outOfMemory() > 0 && status == killed:
		return "memory", status
	case o.tooLarge:
		return "supervisor", status
	}
	return by, status
}

// outOfMemory returns how many processes were killed because of limits.memory.
func (o *outcome) outOfMemory() int { return int(o.Use.OOMKills.Value) + o.killed }

// exit returns the same for the record.
func (o *outcome) exit() audit.Exit {
	by, status := o.endedBy()
	exit := audit.Exit{EndedBy: by, Code: spec.Some(status)}
	if o.Signal != 0 && o.Known {
		exit.Signal = spec.Some(o.Signal)
	}
	return exit
}

// noteLimits records as violations what the limits ended or denied.
func (x *events) noteLimits(o *outcome) {
	l := &x.Resolved.Spec.Limits.Value
	add := func(f spec.Field, action, more string, count int, what string) {
		rule, allow := string(f)+": "+cmp.Or(x.Resolved.Spec.Text(f), "the default"), string(f)+": "+more
		x.record.Violations.Add(audit.Violation{Kind: "limit", At: x.record.EndedAt, Action: action, Count: count, Rule: rule, AllowWith: allow})
		x.refusals += count
		x.Voice.print(rule + ": " + what + "; " + allow + " would allow more")
	}
	if o.timedOut {
		add("limits.timeout", "run on", durationText(2*l.Timeout.Value), 1, "the command was ended")
	}
	if n := o.outOfMemory(); n > 0 {
		add("limits.memory", "use more memory", (2 * l.Memory.Value).String(), n, quantity(n, "process was ended", "processes were ended"))
	}
	if n := int(o.Use.Refused.Value); n > 0 {
		most := l.PIDs.Or(int(x.Host.MostProcesses()))
		add("limits.pids", "start a process or thread", strconv.Itoa(2*most), n, quantity(n, "process or thread was denied", "processes or threads were denied"))
	}
	if l.FileSize.Set && (o.Signal == int(unix.SIGXFSZ) || o.Code == 128+int(unix.SIGXFSZ)) {
		add("limits.file_size", "write a larger file", (2 * l.FileSize.Value).String(), 1, "a process that wrote a larger file was ended")
	}
	if x.Plan.Limits.Timeout > 0 || x.Plan.Limits.Memory > 0 || len(x.Plan.Limits.Groups) > 0 {
		x.record.ObservedKinds = append(x.record.ObservedKinds, "limit")
	}
	x.noteChanged(o.Changed)
}

// quantity returns a number with its noun in singular or plural.
func quantity(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

// noteChanged records that a process outside changed a limit's file while the command ran.
func (x *events) noteChanged(file string) {
	if file == "" {
		return
	}
	name := file[strings.LastIndexByte(file, '/')+1:]
	controller, _, _ := strings.Cut(name, ".")
	field := map[string]spec.Field{"memory": "limits.memory", "cpu": "limits.cpus", "pids": "limits.pids"}[controller]
	if controller == "pids" && !x.Resolved.Spec.Limits.Value.PIDs.Set {
		field = wrap.FieldProcesses
	}
	x.weaken(field, file+" was changed while the command ran")
}

// noteUsage fills in the resource usage of the tree. A control group counts the processor
// time of all processes; without one it is that of the processes that were waited for.
func (x *events) noteUsage(e *launch.Exit) {
	u := &x.record.Usage
	u.WallMS = spec.Some(x.record.EndedAt.Sub(x.record.StartedAt).Milliseconds())
	if x.record.Backend.Image != "" { // the known usage is that of the engine's client, not of the container
		return
	}
	if e.Known {
		u.UserMS, u.SystemMS = spec.Some(e.User/1000), spec.Some(e.System/1000)
		u.MaxRSS = spec.Some(e.MaxRSS * 1024)
		u.Read, u.Written = spec.Some(e.Read), spec.Some(e.Wrote)
	}
	if e.Use.User.Set && e.Use.System.Set {
		u.UserMS, u.SystemMS = spec.Some(e.Use.User.Value/1000), spec.Some(e.Use.System.Value/1000)
	}
	u.MemoryPeak = e.Use.MemoryPeak
}

// durationText formats a duration as specs write it.
func durationText(d time.Duration) string {
	if d%time.Second == 0 {
		return d.String()
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}
