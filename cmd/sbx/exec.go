package main

import (
	"slices"
	"time"

	"sbx/audit"
	"sbx/internal/run"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap/launch"
)

// newExecution returns an execution before its command line is read.
func newExecution(c *call) *execution {
	x := &execution{call: c, Ask: &run.Ask{Version: version, Again: withoutCommand}}
	x.Voice = run.Reporter{Say: func(text string) { c.std.say(text) }, Problem: func(p *spec.Problem) { c.std.problem(p) },
		Quiet: c.has("q"), Verbose: c.has("v"), Explain: c.has("explain"),
		Mixed: c.learning || sameFile(c.std.out, c.std.err) && !sys.IsTerminal(c.std.err)}
	return x
}

// withoutCommand reports whether sbx, called with these arguments, would run exec without
// a command.
func withoutCommand(args []string) bool {
	v := find("exec")
	if !slices.Contains(v.names(), args[0]) {
		return false
	}
	again, err := v.parse(args[1:])
	return err == nil && len(again.rest) == 0
}

// runExec implements `sbx exec`.
func runExec(c *call) int { return c.execute(nil) }

// execute runs the command and then calls after, if that is not nil.
func (c *call) execute(after func(*execution, *run.Ended)) int {
	signals, err := launch.Catch()
	if err != nil {
		c.std.say("cannot catch signals: " + err.Error())
		return exitRefused
	}
	if len(c.rest) == 0 || c.rest[0] == "" {
		return c.std.misused(c.name + ": no command\nhint: sbx " + c.name + " --spec spec.json -- command args")
	}
	launch.Forget(c.rest)
	x := newExecution(c)
	x.Caller, x.Signals = launch.Inherited(), signals
	if c.has("timings") {
		x.Timings = run.NewTimings()
	}
	ended := x.exec()
	if after != nil {
		after(x, &ended)
	}
	_ = sys.WriteAll(c.std.err, x.Timings.String())
	if ended.Interrupted != 0 {
		launch.DieOf(ended.Interrupted)
	}
	return ended.Status
}

// exec makes the run's values in order: Ask, Prepared, Started, Ended.
func (x *execution) exec() run.Ended {
	if err := x.ask(); err != nil {
		defer x.unmake()
		if usage, ok := err.(usageError); ok {
			x.std.say(usage.Error())
			return run.Ended{Status: exitUsage}
		}
		return run.Refuse(x.Ask, err)
	}
	var started *run.Started
	prepared, err := run.Prepare(x.Ask)
	if err == nil && x.DryRun {
		if line := prepared.Line(); line != "" {
			x.std.print(line + "\n")
		} else {
			x.std.print(string(prepared.Plan.AppendJSON(nil)) + "\n")
		}
		return run.Ended{Status: exitOK}
	}
	if err == nil {
		started, err = prepared.Start()
	}
	if err == nil {
		err = x.unlearnable(prepared.Plan)
	}
	if err == nil {
		x.prepared = prepared
		if x.has("v") {
			x.std.say(x.screen())
		}
		x.tellUnreached()
		if prepared.Line() == "" { // otherwise another tool makes the sandbox
			x.warn(prepared.Plan.Warnings)
			x.tellLayer()
			x.tellAgent()
		}
		err = started.Go()
	}
	if err != nil {
		defer x.unmake() // the command does not use the directories that were created for its profile
		return prepared.Refuse(err)
	}
	x.ran = true
	x.std.voice = &linePrinter{}
	defer x.std.finish()
	return started.Wait()
}

// ask reads the command line, the descriptors and the documents.
func (x *execution) ask() (err error) {
	x.Argv = x.rest
	cwd, _ := sys.Getwd() // documents reports the error
	x.Inputs = x.inputs(cwd)
	x.Inputs.Job = x.job()
	x.At = time.Now()
	if x.has("effective") {
		x.Effective = spec.Some(x.value("effective"))
	}
	if x.ID, err = audit.NewID(x.At); err != nil {
		return err
	}
	if err := x.checkBackend(); err != nil {
		return err
	}
	x.Documents, err = x.documents() // may block: a document may come from a pipe
	launch.CatchEnding()
	defer func() { x.Warnings, x.Lost = x.warnings, x.lost }()
	if err != nil {
		return err
	}
	if x.readStdin {
		if err := nullStdin(x.std.in); err != nil {
			return err
		}
	}
	if err := x.resolveAsk(); err != nil {
		return err
	}
	if c := x.call; c.learning && !x.Resolved.Learn {
		return &spec.Problem{On: "the spec", Do: "learn what the command writes", Why: "it lets it write everything", Help: "add access_mode: workspace-write"}
	}
	if x.Counter, err = x.counterAsked(); err != nil {
		return err
	}
	if x.Describe, err = x.describeAsked(); err != nil {
		return err
	}
	if x.Keep, err = keepFDs(x.values["keep-fd"]); err != nil {
		return err
	}
	if x.Progress, err = x.progressAsked(); err != nil {
		return err
	}
	for _, fd := range jobserver(sys.Variable(x.Resolved.Env, "MAKEFLAGS")) {
		if !slices.Contains(x.Keep, fd) {
			x.Keep = append(x.Keep, fd)
		}
	}
	x.DryRun = x.has("dry-run")
	return nil
}

// resolveAsk resolves the documents, with the command's agent.
func (x *execution) resolveAsk() (err error) {
	if x.Resolved, err = x.resolve(x.Documents); err != nil {
		return err
	}
	x.Profile, x.Worker = x.chosen, x.workerAlone()
	if err := x.instruct(); err != nil {
		return err
	}
	x.Agent = x.agent
	x.remark()
	x.Cwd = x.Resolved.Start()
	return nil
}
