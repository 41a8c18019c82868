package main

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

// execNeeds is what a process has of its own besides its arguments when it is
// executed: tables, a stack.
const execNeeds = 128 << 10

// tooLarge says that limits.memory is too small for the command to be executed,
// where it is: the kernel then tells of too many arguments, or of no memory.
func (x *execution) tooLarge() *spec.Problem {
	needs := execNeeds
	for _, l := range [][]string{x.plan.Command.Argv, x.plan.Env} {
		for _, s := range l {
			needs += len(s) + 9 // a NUL, a pointer
		}
	}
	if !x.plan.Limits.Confines() || int64(needs) < int64(x.resolved.Spec.Limits.Value.Memory.Value) {
		return nil
	}
	return &spec.Problem{Field: "limits.memory", On: x.resolved.At("limits.memory"), Do: "execute the command",
		Why: "the limit is too small for its arguments and environment", Help: "raise limits.memory"}
}

// endedBy tells who ended the command, and the exit status of exec.
func (x *execution) endedBy(e launch.Exit) (by string, status int) {
	status = e.Code
	by = "command"
	if e.Signal != 0 {
		status = 128 + e.Signal
		by = "signal"
	}
	killed := 128 + int(unix.SIGKILL) // a shell passes on how its last command ended
	switch {
	case x.ended != "":
		return x.ended, exitEnded
	case x.bounds.TimedOut():
		return "timeout", exitEnded
	case !e.Known: // pid 1 was killed from outside
		return "supervisor", killed
	case x.outOfMemory(e) > 0 && status == killed:
		return "memory", status
	}
	return by, status
}

// outOfMemory is how many processes were ended because of limits.memory.
func (x *execution) outOfMemory(e launch.Exit) int {
	return int(e.Use.OOMKills.Value) + x.bounds.Ended()
}

// noteLimits turns what the limits ended or refused into violations.
func (x *execution) noteLimits(e launch.Exit, at time.Time) {
	l := &x.resolved.Spec.Limits.Value
	add := func(f spec.Field, action, more string, count int, what string) {
		rule, allow := string(f)+": "+cmp.Or(x.resolved.Spec.Text(f), "the default"), string(f)+": "+more
		x.record.Violations.Add(audit.Violation{Kind: "limit", At: at, Action: action, Count: count, Rule: rule, AllowWith: allow})
		if !x.quiet() {
			x.std.say(rule + ": " + what + "; " + allow + " would allow more")
		}
	}
	if x.bounds.TimedOut() {
		add("limits.timeout", "run on", durationText(2*l.Timeout.Value), 1, "the command was ended")
	}
	if n := x.outOfMemory(e); n > 0 {
		add("limits.memory", "use more memory", (2 * l.Memory.Value).String(), n, times(n, "process was ended", "processes were ended"))
	}
	if n := int(e.Use.Refused.Value); n > 0 {
		most := l.PIDs.Or(int(x.host.MostProcesses()))
		add("limits.pids", "start a process or thread", strconv.Itoa(2*most), n, times(n, "process or thread was refused", "processes or threads were refused"))
	}
	if l.FileSize.Set && (e.Signal == int(unix.SIGXFSZ) || e.Code == 128+int(unix.SIGXFSZ)) {
		add("limits.file_size", "write a larger file", (2 * l.FileSize.Value).String(), 1, "a process that wrote a larger file was ended")
	}
	if x.plan.Limits.Timeout > 0 || x.plan.Limits.Memory > 0 || len(x.plan.Limits.Groups) > 0 {
		x.record.ObservedKinds = append(x.record.ObservedKinds, "limit")
	}
	x.noteChanged(e.Changed)
}

// times is a number with the words for it.
func times(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

// noteChanged says of a limit that somebody took away while the command ran.
func (x *execution) noteChanged(file string) {
	if file == "" {
		return
	}
	name := file[strings.LastIndexByte(file, '/')+1:]
	controller, _, _ := strings.Cut(name, ".")
	field := map[string]spec.Field{"memory": "limits.memory", "cpu": "limits.cpus", "pids": "limits.pids"}[controller]
	if controller == "pids" && !x.resolved.Spec.Limits.Value.PIDs.Set {
		field = wrap.FieldProcesses
	}
	for i := range x.record.Enforcement {
		if l := &x.record.Enforcement[i]; l.Field == field {
			l.Weaken(wrap.Degraded, file+" was changed while the command ran")
		}
	}
}

// noteUsage fills in what the tree used. Of the processors' time the group
// tells all; without one it is that of the processes that were waited for.
func (x *execution) noteUsage(e launch.Exit) {
	u := &x.record.Usage
	u.WallMS = spec.Some(x.record.EndedAt.Sub(x.record.StartedAt).Milliseconds())
	if x.record.Backend.Image != "" { // what is known is the client's
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

// durationText is a duration as specs write it.
func durationText(d time.Duration) string {
	if d%time.Second == 0 {
		return d.String()
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}
