package run

import (
	"cmp"
	"slices"

	"sbx/audit"
	"sbx/audit/guard"
	"sbx/internal/enclosing"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
	"sbx/wrap/launch"
	"sbx/wrap/outer"
)

// planned is what is known about the host, and what is planned for it.
type planned struct {
	*journal
	Host    wrap.Host // as far as it is known
	Program wrap.Program
	Plan    *wrap.Plan
}

// Prepared is a run whose Plan is made.
type Prepared struct {
	*planned
	process *launch.Process
	threads <-chan struct{} // closed once the threads exist that the supervisor may need while the command runs
	held    *guard.Snapshot
	relay   relay
	broker  broker
	backend backend              // sbx itself if it has no tool
	narrow  *enclosing.Narrowing // what an outer sbx enforces for this run; nil for nothing
	tap     *tap                 // nil unless an agent's stream is read
	asked   *outer.Asked         // a container's request; nil for a command
}

func newPrepared(p planned) *Prepared {
	return &Prepared{planned: &p, relay: relay{planned: &p}, broker: broker{planned: &p}, backend: backend{planned: &p}}
}

// Prepare plans the run of a. Unless this is a dry run, it clones the child first: the
// child makes its namespaces while sbx examines the workspace. Prepared is not nil if
// there is an error, so that the caller can call Refuse.
func Prepare(a *Ask) (_ *Prepared, err error) {
	x := newPrepared(planned{journal: newJournal(a)})
	if err := x.checkDescriptors(); err != nil {
		return x, err
	}
	if err := x.place(); err != nil {
		return x, err
	}
	x.Timings.Lap("decode")
	if a.Backend != "" {
		if used, err := x.planBackend(); used || err != nil {
			return x, err
		}
	}
	if x.tap, err = x.newTap(); err != nil {
		return x, err
	}
	if err := x.begin(); err != nil {
		return x, err
	}
	x.Timings.Lap("clone")
	found := x.survey()
	x.Timings.Lap("probe")
	if err := x.setProgram(found); err != nil {
		return x, err
	}
	return x, x.plan()
}

// Try plans the run of a by launches without the command: the first that succeeds is the
// plan. If the command's program is missing, it returns the plan and an error.
func Try(a *Ask) (*Prepared, error) {
	x := newPrepared(planned{journal: newJournal(a), Host: host.Facts()})
	var missing error
	if found := x.survey(); found != host.Found {
		missing = programNotFound(a.Argv[0], found)
		a.Argv, a.NoCommand = []string{"true"}, true
	}
	for {
		plan, err := wrap.Build(x.Resolved, &x.Host, wrap.Request{Argv: x.Argv, Program: x.Program, Counter: wrap.CounterAuto, Agent: x.Seen, NoCommand: x.NoCommand, Worker: x.Worker})
		if err != nil {
			return x, err
		}
		if err = launch.Try(plan); err == nil {
			x.Plan = plan
			return x, missing
		}
		if err := x.learnFrom(plan, err); err != nil {
			return x, err
		}
	}
}

// Refuse ends the run before the command starts, and reports the reason to the person and
// in the record.
func (x *Prepared) Refuse(err error) Ended {
	if x.process != nil {
		x.process.Kill()
	}
	x.relay.Kill()
	x.broker.close()
	if x.narrow != nil {
		x.narrow.Close()
	}
	return x.refuse(err)
}

// begin clones the child.
func (x *Prepared) begin() error {
	x.Host = host.Facts()
	if x.DryRun {
		x.relay.locate()
		return x.broker.start()
	}
	if err := launch.Subreap(); err != nil {
		return err
	}
	own := 0
	if x.tap != nil {
		own = audit.TapThreads
	}
	if err := x.relay.start(); err != nil {
		return err
	}
	if err := x.broker.start(); err != nil {
		return err
	}
	x.threads = launch.Threads(own) // at the same time as the kernel makes the namespaces
	return x.beginAgain()
}

// beginAgain begins the launch again, at the next fallback level.
func (x *Prepared) beginAgain() error {
	for {
		opening := wrap.Open(x.Resolved, &x.Host)
		process, err := launch.Begin(opening)
		if err == nil {
			x.process = process
			return nil
		}
		if err := x.learnFrom(&wrap.Plan{Opening: opening}, err); err != nil {
			return err
		}
	}
}

// survey looks for the command's program, and examines the workspace and the directories
// around it.
func (x *planned) survey() (found host.Search) {
	if !x.NoCommand {
		found = x.lookUp()
	}
	x.Host = host.Survey(x.Resolved, x.Host, append(x.Program.Files(), x.sourcePaths()...)...)
	x.Host.StateWhy = x.unmadeWhy
	return found
}

// plan makes the Plan for the host as it is known now.
func (x *Prepared) plan() error {
	plan, err := wrap.Build(x.Resolved, &x.Host, x.request())
	if err != nil {
		return err
	}
	x.Timings.Lap("plan")
	x.Plan = plan
	x.record.Warnings = slices.Concat(x.Warnings, plan.Warnings)
	x.noteUnsandboxed()
	return nil
}

// writeFirstRecord writes the record of a run that is about to start.
func (x *planned) writeFirstRecord() error {
	if err := x.open(); err != nil {
		return err
	}
	x.record.Supervisor = audit.Self()
	x.record.Enforcement = append(x.Plan.Enforcement, x.Lost...)
	x.record.Host = &x.Host
	if x.record.Backend.Used == "" || x.record.Backend.Used == native {
		x.record.Rung = spec.Some(x.Plan.Rung)
	}
	x.record.AccessMode = x.Plan.HeldMode(x.Resolved)
	return x.sink.Write(x.record)
}

func (x *Prepared) request() wrap.Request {
	return wrap.Request{Argv: x.Argv, Program: x.Program, Record: x.RecordPath(), Sources: x.sourcePaths(),
		Counter: x.Counter, Describe: x.Describe, Agent: x.Seen, Worker: x.Worker, NoRelay: x.relay.why, Broker: x.broker.ask()}
}

// newAdviser returns an adviser that finds lines for this run's document.
func (x *Prepared) newAdviser() *wrap.Adviser {
	if x.asked != nil {
		return &wrap.Adviser{Plan: x.Plan, Resolved: x.asked.Resolved, Host: x.asked.Host, Request: x.asked.Request}
	}
	a := &wrap.Adviser{Plan: x.Plan, Resolved: x.Resolved, Host: &x.Host, Request: x.request()}
	if _, why := beside(relayName, relayDoes); a.Request.NoRelay == "" {
		a.Request.NoRelay = why
	}
	if x.backend.tool != nil {
		a.Request.NoRelay = "another tool holds the sandbox"
	}
	return a
}

// Reaching returns the line of the document that would allow items of network.allow in
// addition; "" for none.
func (x *Prepared) Reaching(items []string) string { return x.newAdviser().Reaching(items) }

// noteUnsandboxed warns that the plan enforces nothing although the spec asks for
// something. The documents allow that.
func (x *planned) noteUnsandboxed() {
	p := x.Plan
	if p.Rung != wrap.RungBare || p.Filter.On || p.Landlock.FS != 0 || p.Landlock.Net != 0 || p.Landlock.Scope != 0 {
		return
	}
	asked := cmp.Or(x.record.Backend.Asked, native)
	const why = "this host has neither namespaces nor Landlock nor seccomp filters"
	x.record.Backend = audit.Backend{Asked: asked, Used: "none", Reason: why}
	x.Voice.Say("the command runs unsandboxed: " + why)
}
