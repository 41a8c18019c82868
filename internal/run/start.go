package run

import (
	"golang.org/x/sys/unix"

	"sbx/audit/guard"
	"sbx/audit/listen"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// Started is a run whose command exists: ready to be executed, then running.
type Started struct {
	*events
	bounds    launch.Bounds    // the limits that the supervisor enforces itself
	programs  *listen.Programs // the programs that may be executed; nil for any
	guard     guarding
	count     count
	egress    egress
	brokered  brokerEvents
	narrowing narrowing
	landlog   landlog
	watched   watchedAgent
	layers    []layer // the overlays that take what the command writes
}

func newStarted(p *Prepared) *Started {
	e := &events{Prepared: p, end: func() { p.process.End() }}
	x := &Started{events: e, guard: guarding{events: e, masks: masks{events: e}}, count: count{events: e}, egress: egress{events: e}, brokered: brokerEvents{events: e}, narrowing: narrowing{e},
		landlog: landlog{events: e}}
	x.watched = watchedAgent{events: e, bounds: &x.bounds}
	return x
}

// Start launches the Plan. If the host refuses a step, it learns about the host from that
// and launches again, down to the last fallback level. The command waits for Go.
func (p *Prepared) Start() (*Started, error) {
	x := newStarted(p)
	if p.backend.tool != nil {
		if err := p.beginBackend(); err != nil {
			return x, err
		}
		err := x.launch()
		if step, ok := err.(*launch.StepError); ok {
			err = stepProblem(step)
		}
		return x, err
	}
	for {
		if p.held == nil {
			held, err := guard.Hold(p.Plan.Watch)
			if err != nil {
				return x, err
			}
			p.held = held
		}
		err := x.launch()
		if err == nil {
			return x, nil
		}
		if err := p.learnFrom(p.Plan, err); err != nil {
			return x, err
		}
		p.Voice.printVerbose("the host refuses " + err.Error() + ": trying what is left")
		if err := p.beginAgain(); err != nil {
			return x, err
		}
		if err := p.plan(); err != nil {
			return x, err
		}
	}
}

// launch clones the child, writes the record while the child sets itself up, and waits
// until the child is ready.
func (x *Started) launch() error {
	masked := x.Plan.Watch.Record != ""
	if err := x.broker.sendStart(x.seen()); err != nil {
		return err
	}
	if masked { // a mount can only cover an existing file
		if err := x.writeFirstRecord(); err != nil {
			return err
		}
	}
	err := x.process.Load(x.Plan, launch.Options{Caller: x.Caller, Keep: append(x.Keep, x.backend.handed...), KeepAll: !x.Resolved.SideDoors, Signals: x.Signals})
	if err != nil {
		return err
	}
	if !masked {
		if err := x.writeFirstRecord(); err != nil {
			x.process.Kill()
			return err
		}
	}
	if x.tap != nil && !x.tap.passes { // only at the first attempt
		x.tap.passes = true
		x.tap.Start()
	}
	x.Timings.Lap("record")
	x.guard.rememberProtected()
	if err := x.narrowing.begin(); err != nil {
		return err
	}
	if err := x.count.begin(); err != nil {
		return err
	}
	<-x.threads
	if x.Plan.Counter != wrap.CounterPtrace { // the tracer must attach first
		x.process.Allow()
	}
	if err = x.process.Ready(); err == nil {
		x.egress.handSockets()
		if err = x.broker.handSocket(x.process, x.backend.tool != nil); err != nil {
			x.process.Kill()
			return err
		}
		x.openLayers()
		err = x.count.attachTracer()
	}
	x.Timings.Lap("setup")
	if err == nil { // the command has not run yet
		x.programs = listen.Learn(x.process.Root(), &x.Plan.Programs)
	}
	return err
}

// Go releases the command.
func (x *Started) Go() (err error) {
	if x.bounds, err = x.process.Bounds(&x.Plan.Limits); err != nil {
		return err
	}
	if err = x.process.Go(); err == nil {
		err = x.count.checkTracer()
	}
	x.Timings.Lap("exec")
	e, ok := err.(*launch.StepError)
	if err == nil {
		x.tap.close()
		return nil
	}
	if !ok || e.Step.Name != "execve" {
		return err
	}
	why, help := e.Errno.Error(), ""
	switch unix.Errno(e.Errno) {
	case unix.ENOMEM, unix.E2BIG:
		if p := x.tooLarge(); p != nil {
			return p
		}
	case unix.ENOENT:
		why, help = "its interpreter is missing", x.lackingHint()
	case unix.ENOEXEC:
		why = "it is neither a program of this machine nor a script with #!"
	}
	return &unstarted{&spec.Problem{On: x.Argv[0], Do: "execute the command", Why: why, Help: help}, StatusNoExec}
}
