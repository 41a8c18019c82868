package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"sbx/dispatch"
	"sbx/spec"
)

// tokens implements `sbx dispatch tokens`.
func (p *program) tokens(c *cli.Context) error {
	if _, err := id(c); err != nil {
		return err
	}
	counts, err := counted(c)
	if err != nil {
		return err
	}
	return p.withID(c, dispatch.Alter, func(l *dispatch.Ledger, _ dispatch.Place, name string) error {
		if err := l.Tokens(name, counts); err != nil {
			return err
		}
		if c.Bool("json") {
			fmt.Println(`{"status": "updated"}`)
		} else {
			fmt.Println("updated")
		}
		return overBudget(l, name)
	})
}

// overBudget warns if the run that a dispatch belongs to is near or over its token budget.
func overBudget(l *dispatch.Ledger, name string) error {
	d, err := l.Get(name)
	if err != nil || !d.ScopeID.Set {
		return err
	}
	b, has, err := l.Budget(d.ScopeID.Value)
	if err != nil || !has {
		return err
	}
	if b.Used >= b.Most || b.Used >= b.Warn {
		say(spec.Shown(fmt.Sprintf("the run %s has used %d of its %d tokens", d.ScopeID.Value, b.Used, b.Most)))
	}
	return nil
}

// counted returns the counts on the command line of tokens.
func counted(c *cli.Context) (counts dispatch.Counts, err error) {
	for flag, into := range map[string]*spec.Opt[int64]{"in": &counts.Input, "out": &counts.Output, "cache": &counts.Cached} {
		if !c.IsSet(flag) {
			continue
		}
		n, err := strconv.ParseInt(c.String(flag), 10, 64)
		if err != nil || n < 0 {
			return counts, usageError("tokens: --" + flag + " wants a number, and not " + spec.Word(c.String(flag)))
		}
		*into = spec.Some(n)
	}
	if counts == (dispatch.Counts{}) {
		return counts, usageError("tokens: one of --in, --out and --cache at least")
	}
	return counts, nil
}

// prune implements `sbx dispatch prune`.
func (p *program) prune(c *cli.Context) error {
	if err := none(c); err != nil {
		return err
	}
	if !c.IsSet("older-than") {
		return usageError("prune: --older-than says which")
	}
	age, err := duration(c, "older-than")
	if err != nil {
		return err
	}
	return p.withLedger(c, dispatch.Alter, func() { fmt.Println("0 pruned") }, func(l *dispatch.Ledger) error {
		ids, kept, err := l.Prune(time.Now().Add(-age))
		if err != nil {
			return err
		}
		fmt.Printf("%d pruned\n", len(ids))
		if kept > 0 {
			say(fmt.Sprintf("%d kept, which another table of the ledger names", kept))
		}
		return p.world.Clear(l, ids)
	})
}
