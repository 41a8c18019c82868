package main

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/audit/trace"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
	"sbx/wrap/launch"
)

// start builds the plan and launches it, rung by rung: a step that this host
// refuses takes the launch to what the host is then known to have.
func (x *execution) start() error {
	for {
		plan, err := wrap.Build(x.resolved, &x.host, x.request())
		if err != nil {
			return err
		}
		x.clock.lap("plan")
		x.plan = plan
		x.record.Warnings = slices.Concat(x.warnings, plan.Warnings)
		x.noteUnsandboxed()
		if x.has("dry-run") {
			x.std.print(string(plan.AppendJSON(nil)) + "\n")
			return errDryRun
		}
		if x.held == nil {
			if x.held, err = audit.Hold(plan.Watch); err != nil {
				return err
			}
		}
		step := x.launch()
		if step == nil {
			x.warn(plan.Warnings)
			return nil
		}
		if err := x.taught(plan, step); err != nil {
			return err
		}
		x.verbose("the host refuses " + step.Error() + ": trying what is left")
		if err := x.reopen(); err != nil {
			return err
		}
	}
}

func (x *execution) request() wrap.Request {
	return wrap.Request{Argv: x.rest, Program: x.program, Record: x.recordPath(), Sources: x.sourcePaths(),
		Counter: x.counter, Describe: x.describe, Agent: x.seen, Worker: x.workerAlone(), NoRelay: x.egress.why}
}

// taught takes from a launch that failed what it says of the host, and gives
// the error back where it says nothing. A host without overlays needs the names
// of the folders that are put together instead.
func (x *execution) taught(plan *wrap.Plan, err error) error {
	if e, ok := err.(*trace.AttachError); ok {
		x.host = launch.Untraceable(x.host, untraceable(e))
		return nil
	}
	step, ok := err.(*launch.StepError)
	if !ok {
		return err
	}
	next, ok := launch.Learn(x.host, plan, step)
	if !ok {
		return x.stepProblem(step)
	}
	if next.Overlay.State != x.host.Overlay.State || next.Layer.State != x.host.Layer.State {
		host.Listings(&next)
	}
	host.Unbounded(x.resolved, &next)
	x.host = next
	return nil
}

// launch clones the child, writes the record while the child sets itself up,
// and waits for it to be ready.
func (x *execution) launch() error {
	masked := x.plan.Watch.Record != ""
	if masked { // so it must be there
		if err := x.announce(); err != nil {
			return err
		}
	}
	err := x.process.Load(x.plan, launch.Options{Caller: x.caller, Keep: append(x.keep, x.handed...), KeepAll: !x.resolved.SideDoors})
	if err != nil {
		return err
	}
	if !masked {
		if err := x.announce(); err != nil {
			x.process.Kill()
			return err
		}
	}
	if x.watched != nil && !x.watched.passes { // not for another rung
		x.watched.passes = true
		x.watched.tap.Start()
	}
	x.clock.lap("record")
	x.guard()
	if err := x.outer(); err != nil {
		return err
	}
	x.openLedger()
	<-x.threads
	if x.plan.Counter != wrap.CounterPtrace { // which must attach first
		x.process.Allow()
	}
	if err = x.process.Ready(); err == nil {
		x.handSockets()
		err = x.trace()
	}
	x.clock.lap("setup")
	if err == nil { // nothing in there is the command's work yet
		x.programs = listen.Learn(x.process.Root(), &x.plan.Programs)
	}
	return err
}

// sourcePaths are the files that made the spec, links resolved.
func (x *execution) sourcePaths() []string { return sourceFiles(x.record.Documents) }

func sourceFiles(docs []*spec.SandboxSpec) []string {
	var files []string
	for _, d := range docs {
		src := &d.Source
		if src.Name == "-" || strings.HasPrefix(src.Name, "--") {
			continue
		}
		if real, err := spec.Real(src.Dir+"/"+src.Name[strings.LastIndexByte(src.Name, '/')+1:], spec.HostPaths{}); err == nil {
			files = append(files, real)
		}
	}
	return files
}

// recordPath is where the record will stand, links resolved.
func (x *execution) recordPath() string {
	if x.sink == nil {
		return x.later
	}
	path := x.sink.Path()
	if !strings.HasPrefix(path, "/") {
		cwd, err := getwd()
		if err != nil {
			return ""
		}
		path = cwd + "/" + path
	}
	i := strings.LastIndexByte(path, '/')
	dir, err := spec.Real(path[:i+1], spec.HostPaths{})
	if err != nil {
		return path
	}
	return strings.TrimRight(dir, "/") + path[i:]
}

// stepProblem tells a launch step that failed in the spec's words.
func (x *execution) stepProblem(e *launch.StepError) error {
	p := &spec.Problem{Field: e.Step.For, On: e.Step.On, Do: "set up the sandbox (" + e.Step.Name + ")", Why: e.Errno.Error()}
	switch unix.Errno(e.Errno) {
	case unix.ELOOP:
		p.Why = "a link stands there now, and none did when the path was looked up"
	case unix.EAGAIN:
		p.Help = "where no process can be made raise their limit (ulimit -u, TasksMax=, a container's pids limit)"
	case unix.EROFS:
		if e.Step.For == "network.listen" {
			p.Help = "have the command listen at a port from 1024 on, as in \"80:8080\": the kernel need not be told then"
		}
	case unix.ENOSPC:
		p.Why = "a limit of the kernel is reached (" + p.Why + ")"
		p.Help = "see /proc/sys/user/max_*_namespaces and /proc/sys/fs/mount-max"
	}
	return p
}

// release lets the command start.
func (x *execution) release() (int, error) {
	var err error
	if x.bounds, err = x.process.Bounds(&x.plan.Limits); err != nil {
		return exitRefused, err
	}
	if err = x.process.Go(); err == nil {
		err = x.traced()
	}
	x.clock.lap("exec")
	e, ok := err.(*launch.StepError)
	if err == nil || !ok || e.Step.Name != "execve" {
		return exitRefused, err
	}
	status := exitNoExec
	why, help := e.Errno.Error(), ""
	switch unix.Errno(e.Errno) {
	case unix.ENOMEM, unix.E2BIG:
		if p := x.tooLarge(); p != nil {
			return exitRefused, p
		}
	case unix.ENOENT:
		why, help = "its interpreter is missing", x.lackingHint()
	case unix.ENOEXEC:
		why = "it is neither a program of this machine nor a script with #!"
	}
	return status, &spec.Problem{On: x.rest[0], Do: "execute the command", Why: why, Help: help}
}

func (c *call) verbose(text string) {
	if c.has("v") {
		c.std.say(text)
	}
}
