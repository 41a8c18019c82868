package main

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/audit/trace"
	"sbx/internal/outer"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
	"sbx/wrap/launch"
)

// execution is one run of exec, from the documents to the record.
type execution struct {
	*call
	clock       *stopwatch
	caller      launch.Caller
	signals     int
	keep        []int
	resolved    *spec.Resolved
	sink        *audit.Sink
	noCommand   bool   // of check: no command was given
	unmadeWhy   string // why there is no state folder, and none could be made
	later       string // where the record will stand, links resolved, before sink is opened
	record      audit.Record
	host        wrap.Host
	program     wrap.Program
	plan        *wrap.Plan
	process     *launch.Process
	threads     <-chan struct{} // that may be wanted while the command runs; closed once they are there
	held        *audit.Held
	sweep       *audit.Sweep // nil where there is nothing to look after
	watch       *audit.Watch
	linked      *audit.Worktrees // that can be removed inside; nil for none
	again       *renewer         // nil before the watch begins
	patrol      *patrol          // nil where there is no sweep
	counter     wrap.Counter     // which is asked for
	describe    wrap.Describe
	ledger      audit.Ledger
	programs    *listen.Programs   // which may be executed; nil for any
	budget      outer.Budget       // where an outer sbx counts
	narrowing   *outer.Narrowing   // where an outer sbx holds the network; nil before
	tracer      *trace.Tracer      // nil where programs are not counted by ptrace
	mixed       bool               // stderr goes where stdout does, to a program
	adviser     *wrap.Adviser      // nil before the first question
	told        []string           // the kinds of refusals that a person was told of
	masksOpened []string           // masked folders that were opened, as they are inside
	interrupted unix.Signal        // of the terminal's, that ended the command; 0 for none
	ended       string             // why sbx ended everything; "" where it did not
	seen        wrap.AgentSeen     // what is known of the command's agent
	watched     *watched           // nil where no stream of an agent's is read
	landlog     *audit.LandlockLog // nil where nothing reads what Landlock refuses
	bounds      launch.Bounds      // the limits that the supervisor holds itself
	status      int                // where bwrap tells whether the command was started; 0 for nowhere
	handed      []int              // descriptors for the tool that runs the command
	below       int                // how many processes of its own wait for the command
	remover     *remover           // of a container; nil for none
	egress      egress             // by which network.allow is reached
	tool        *wrap.Tool         // of the backend; nil for sbx itself
	progress    *progress          // nil where no program asked for it
}

// runExec is `sbx exec`.
func runExec(c *call) int {
	signals, err := launch.Catch()
	if err != nil {
		c.std.say("cannot catch signals: " + err.Error())
		return exitRefused
	}
	if len(c.rest) == 0 || c.rest[0] == "" {
		c.std.say("exec: no command")
		c.std.say("hint: sbx exec --spec spec.json -- command args")
		return exitUsage
	}
	launch.Forget(c.rest)
	x := &execution{call: c, caller: launch.Inherited(), signals: signals, clock: newStopwatch(c)}
	x.mixed = sameFile(c.std.out, c.std.err) && !isTerminal(c.std.err)
	status := x.run()
	x.clock.report(c.std)
	if x.interrupted != 0 {
		launch.DieOf(x.interrupted)
	}
	return status
}

// run goes the one way: documents, resolved, host, plan, process, record.
func (x *execution) run() int {
	if err := x.ask(); err != nil {
		return x.refuse(err)
	}
	if err := x.place(); err != nil {
		return x.refuse(err)
	}
	x.clock.lap("decode")
	if x.backed() {
		if status, done := x.runBacked(); done {
			return status
		}
	}
	if err := x.tapAgent(); err != nil {
		return x.refuse(err)
	}
	if err := x.begin(); err != nil {
		return x.refuse(err)
	}
	x.clock.lap("clone")
	found := x.survey()
	x.clock.lap("probe")
	if status, err := x.find(found); err != nil {
		x.refuse(err)
		return status
	}
	if err := x.start(); err != nil {
		return x.refuse(err)
	}
	x.tellAgent()
	if status, err := x.release(); err != nil {
		x.refuse(err)
		return status
	}
	x.untap()
	return x.supervise()
}

// ask reads the command line, the descriptors and the documents.
func (x *execution) ask() error {
	now := time.Now()
	id, err := audit.NewID(now)
	if err != nil {
		return err
	}
	x.record = audit.Record{ID: id, StartedAt: now, Version: version, Command: audit.Command{Argv: x.rest}}
	if err := x.checkBackend(); err != nil {
		return err
	}
	docs, err := x.documents() // which a pipe may bring, or never
	launch.CatchEnding()
	x.record.Documents = docs
	for _, s := range docs {
		x.record.Sources = append(x.record.Sources, s.Source.Name)
	}
	defer func() { x.record.Warnings = x.warnings }()
	if err != nil {
		return err
	}
	if x.readStdin {
		if err := nullStdin(x.std.in); err != nil {
			return err
		}
	}
	x.resolved, err = x.resolve(docs)
	if err != nil {
		return err
	}
	x.record.Resolved = x.resolved
	x.record.Profile = x.chosen
	if err := x.instruct(); err != nil {
		return err
	}
	x.remark()
	x.record.Command.Cwd = x.resolved.Start()
	if x.counter, err = x.counterAsked(); err != nil {
		return err
	}
	if x.describe, err = x.describeAsked(); err != nil {
		return err
	}
	x.keep, err = keepFDs(x.values["keep-fd"])
	if err != nil {
		return err
	}
	if err := x.progressAsked(); err != nil {
		return err
	}
	for _, fd := range jobserver(variable(x.resolved.Env, "MAKEFLAGS")) {
		if !slices.Contains(x.keep, fd) {
			x.keep = append(x.keep, fd)
		}
	}
	if x.resolved.SideDoors {
		fds := append([]int{0, 1, 2}, x.keep...)
		if err := checkFDs(fds); err != nil || x.has("dry-run") {
			return err
		}
		return x.handOver(fds)
	}
	return nil
}

// place decides where the record goes. In the state folder, once that is there,
// the run's own folder can wait until the child is busy with its mounts.
func (x *execution) place() error {
	state := audit.StateDir(x.environ, x.home())
	if x.has("effective") || variable(x.environ, "SBX_EFFECTIVE") != "" {
		x.makeState(state)
		return x.open()
	}
	if !exists(state + "/runs") {
		return x.open()
	}
	runs, err := spec.Real(state+"/runs", spec.HostPaths{})
	if err != nil {
		return x.open()
	}
	x.later = runs + "/" + x.record.ID + "/effective.json"
	return nil
}

// open opens the record's place.
func (x *execution) open() error {
	if x.sink != nil {
		return nil
	}
	var named spec.Opt[string]
	if x.has("effective") {
		named = spec.Some(x.value("effective"))
	}
	folder, err := x.recordFolder(named.Or(variable(x.environ, "SBX_EFFECTIVE")))
	if err != nil {
		return err
	}
	sink, err := audit.Open(named, folder, x.environ, x.home(), x.record.ID)
	if err == nil {
		x.sink = sink
	}
	return err
}

// announce writes the record of a run that is about to start.
func (x *execution) announce() error {
	if err := x.open(); err != nil {
		return err
	}
	x.record.Supervisor = audit.Self()
	x.record.Enforcement = append(x.plan.Enforcement, x.lost...)
	x.record.Host = &x.host
	if x.record.Backend.Used == "" || x.record.Backend.Used == native {
		x.record.Rung = spec.Some(x.plan.Rung)
	}
	x.record.AccessMode = x.plan.Held(x.resolved)
	return x.sink.Write(x.record)
}

// begin clones the child, which makes its namespaces while the workspace is
// looked at.
func (x *execution) begin() error {
	x.host = host.Facts()
	if x.has("dry-run") {
		x.findRelay()
		return nil
	}
	if err := launch.Subreap(); err != nil {
		return err
	}
	own := 0
	if x.watched != nil {
		own = audit.TapThreads
	}
	if err := x.startRelay(); err != nil {
		return err
	}
	x.threads = launch.Threads(own) // while the kernel makes the namespaces
	return x.reopen()
}

// reopen begins the launch on the best rung that is left.
func (x *execution) reopen() error {
	for {
		opening := wrap.Open(x.resolved, &x.host)
		process, err := launch.Begin(opening)
		if err == nil {
			x.process = process
			return nil
		}
		if err := x.taught(&wrap.Plan{Opening: opening}, err); err != nil {
			return err
		}
	}
}

// survey looks for the program, and learns what stands in the workspace and around it.
func (x *execution) survey() (found host.Search) {
	if !x.noCommand {
		found = x.lookUp()
	}
	x.host = host.Survey(x.resolved, x.host, append(x.program.Files(), x.sourcePaths()...)...)
	x.host.StateWhy = x.unmadeWhy
	return found
}
