package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"sbx/dispatch"
	"sbx/spec"
)

// show is `sbx dispatch status`. It changes nothing.
func (p *program) show(c *cli.Context) error {
	name, err := id(c)
	if err != nil {
		return err
	}
	l, _, err := p.open(c, dispatch.Read)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	d, err := l.Get(name)
	if err != nil {
		return err
	}
	return print(c, &d)
}

func print(c *cli.Context, d *dispatch.Dispatch) error {
	if c.Bool("json") {
		fmt.Printf("%s\n", object(d))
	} else {
		fmt.Print(page(d))
	}
	return nil
}

// list is `sbx dispatch list`.
func (p *program) list(c *cli.Context) error {
	if err := none(c); err != nil {
		return err
	}
	l, at, err := p.open(c, dispatch.Read)
	if _, there := dispatch.OwnerOf(at.Path); err != nil && at.Home && !there {
		printRows(c, nil) // nothing was sent off yet
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	rows, err := l.List(dispatch.Filter{Active: c.Bool("active"), Scope: given(c, "scope")})
	if err != nil {
		return err
	}
	printRows(c, rows)
	return nil
}

func printRows(c *cli.Context, rows []dispatch.Dispatch) {
	if !c.Bool("json") {
		for i := range rows {
			d := &rows[i]
			fmt.Printf("%s\t%s\t%s\t%s\n", clean(d.ID), clean(string(d.Status)), clean(d.AgentType), clean(d.Name.Value))
		}
		return
	}
	fmt.Print("[")
	for i := range rows {
		if i > 0 {
			fmt.Print(",\n ")
		}
		fmt.Printf("%s", object(&rows[i]))
	}
	fmt.Println("]")
}

// poll is `sbx dispatch poll`.
func (p *program) poll(c *cli.Context) error {
	if c.Args().Len() == 0 {
		return p.pollAll(c)
	}
	return p.withOne(c, func(l *dispatch.Ledger, name string) (dispatch.Dispatch, error) { return p.world.Poll(l, name) })
}

// pollAll polls what has not ended.
func (p *program) pollAll(c *cli.Context) error {
	l, _, err := p.open(c, dispatch.Write)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	rows, err := l.List(dispatch.Filter{Active: true})
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i], err = p.world.Poll(l, rows[i].ID); err != nil {
			return err
		}
	}
	printRows(c, rows)
	return nil
}

// withOne does something to a dispatch and prints it.
func (p *program) withOne(c *cli.Context, do func(*dispatch.Ledger, string) (dispatch.Dispatch, error)) error {
	name, err := id(c)
	if err != nil {
		return err
	}
	l, _, err := p.open(c, dispatch.Write)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	d, err := do(l, name)
	if err != nil {
		return err
	}
	if d.Status == dispatch.Failed || d.Status == dispatch.TimedOut {
		if c.Command.Name == "wait" {
			p.status = exitFailed
		}
	}
	if c.Command.Name == "kill" {
		p.killed(&d)
		return nil
	}
	return print(c, &d)
}

// killed tells what came of a kill: the dispatch may have been faster.
func (p *program) killed(d *dispatch.Dispatch) {
	if d.Status == dispatch.Cancelled {
		fmt.Println("killed")
		return
	}
	fmt.Println("it had ended: " + string(d.Status))
}

// wait is `sbx dispatch wait`.
func (p *program) wait(c *cli.Context) error {
	timeout, err := duration(c, "timeout")
	if err != nil {
		return err
	}
	every, err := duration(c, "poll")
	if err != nil {
		return err
	}
	if every == 0 {
		every = 100 * time.Millisecond
	}
	return p.withOne(c, func(l *dispatch.Ledger, name string) (dispatch.Dispatch, error) {
		return p.world.Wait(l, name, every, timeout)
	})
}

// kill is `sbx dispatch kill`.
func (p *program) kill(c *cli.Context) error {
	return p.withOne(c, func(l *dispatch.Ledger, name string) (dispatch.Dispatch, error) {
		return p.world.Stop(l, name, dispatch.Cancelled)
	})
}

// tokens is `sbx dispatch tokens`.
func (p *program) tokens(c *cli.Context) error {
	name, err := id(c)
	if err != nil {
		return err
	}
	var counts dispatch.Counts
	for flag, into := range map[string]*spec.Opt[int64]{"in": &counts.Input, "out": &counts.Output, "cache": &counts.Cached} {
		if !c.IsSet(flag) {
			continue
		}
		n, err := strconv.ParseInt(c.String(flag), 10, 64)
		if err != nil || n < 0 {
			return usageError("tokens: --" + flag + " wants a number, and not " + quote(c.String(flag)))
		}
		*into = spec.Some(n)
	}
	if counts == (dispatch.Counts{}) {
		return usageError("tokens: one of --in, --out and --cache at least")
	}
	l, _, err := p.open(c, dispatch.Write)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	if err := l.Tokens(name, counts); err != nil {
		return err
	}
	if c.Bool("json") {
		fmt.Println(`{"status": "updated"}`)
	} else {
		fmt.Println("updated")
	}
	return nil
}

// retry is `sbx dispatch retry`.
func (p *program) retry(c *cli.Context) error {
	name, err := id(c)
	if err != nil {
		return err
	}
	l, at, err := p.open(c, dispatch.Write)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	again, j, err := p.world.Retry(l, at, name)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		fmt.Printf("{\"new_id\": \"%s\", \"attempt\": %d, \"backoff_ms\": %d}\n", again.ID, again.Attempt, again.Backoff.Milliseconds())
	} else {
		fmt.Printf("%s\tattempt=%d\tbackoff_ms=%d\n", again.ID, again.Attempt, again.Backoff.Milliseconds())
	}
	if c.Bool("start") {
		return p.world.Start(j)
	}
	return nil
}

// prune is `sbx dispatch prune`.
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
	l, _, err := p.open(c, dispatch.Write)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	ids, err := l.Prune(time.Now().Add(-age))
	if err != nil {
		return err
	}
	fmt.Printf("%d pruned\n", len(ids))
	return p.world.Clear(l, ids)
}
