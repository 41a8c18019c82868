package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"sbx/dispatch"
	"sbx/dispatch/life"
	"sbx/spec"
)

// retry implements `sbx dispatch retry`.
func (p *program) retry(c *cli.Context) error {
	if c.IsSet("chain-key") {
		return usageError("retry: --chain-key is Intercore's: here a chain is a dispatch and the one that it retries")
	}
	e := life.Escalation{Mode: c.String("failure-mode"), Detail: c.String("failure-detail"), Open: os.Getenv("CLAVAIN_FABLE_AVAILABLE") == "1"}
	switch {
	case !c.Bool("escalate") && (c.IsSet("failure-mode") || c.IsSet("failure-detail")):
		return usageError("retry: --failure-mode and --failure-detail go with --escalate")
	case c.IsSet("failure-mode") && !slices.Contains(life.FailureModes, e.Mode):
		return usageError("retry: --failure-mode is one of " + strings.Join(life.FailureModes, ", ") + ", and not " + spec.Word(e.Mode))
	}
	return p.withID(c, dispatch.Alter, func(l *dispatch.Ledger, at dispatch.Place, name string) (err error) {
		var again life.Again
		var j *life.Job
		if c.Bool("escalate") {
			again, j, err = p.world.Escalate(l, at, name, e)
		} else {
			again, j, err = p.world.Retry(l, at, name)
		}
		var end *life.Exhausted
		if errors.As(err, &end) {
			p.exhausted(c, end)
			return nil
		}
		if err != nil {
			return err
		}
		switch ms := again.Backoff.Milliseconds(); {
		case c.Bool("json") && c.Bool("escalate"):
			fmt.Printf("{\"new_id\": \"%s\", \"model\": %s, \"escalated\": %t, \"attempt\": %d, \"backoff_ms\": %d}\n", again.ID, quoted(again.Model), again.Escalated, again.Attempt, ms)
		case c.Bool("json"):
			fmt.Printf("{\"new_id\": \"%s\", \"attempt\": %d, \"backoff_ms\": %d}\n", again.ID, again.Attempt, ms)
		case c.Bool("escalate"):
			fmt.Printf("%s\tmodel=%s\tescalated=%t\tbackoff_ms=%d\n", again.ID, spec.Name(again.Model), again.Escalated, ms)
		default:
			fmt.Printf("%s\tattempt=%d\tbackoff_ms=%d\n", again.ID, again.Attempt, ms)
		}
		if c.Bool("start") {
			return p.world.Start(j)
		}
		return nil
	})
}

// exhausted reports that no model is left to try.
func (p *program) exhausted(c *cli.Context, e *life.Exhausted) {
	p.status = exitFailed
	if c.Bool("json") {
		fmt.Printf("{\"exhausted\": true, \"lesson_file\": %s, \"error\": %s}\n", quoted(e.Lesson), quoted(e.Error()))
		return
	}
	say(spec.Shown(e.Error()))
	say(spec.Shown("what was tried: " + e.Lesson))
}
