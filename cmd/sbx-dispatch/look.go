package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"sbx/dispatch"
	"sbx/spec"
)

// show implements `sbx dispatch status`. It does not change the ledger.
func (p *program) show(c *cli.Context) error {
	return p.withID(c, dispatch.Read, func(l *dispatch.Ledger, _ dispatch.Place, name string) error {
		d, err := l.Get(name)
		if err != nil {
			return err
		}
		return print(c, &d)
	})
}

func print(c *cli.Context, d *dispatch.Dispatch) error {
	if c.Bool("json") {
		fmt.Printf("%s\n", object(d))
	} else {
		fmt.Print(page(d))
	}
	return nil
}

// list implements `sbx dispatch list`.
func (p *program) list(c *cli.Context) error {
	if err := none(c); err != nil {
		return err
	}
	return p.withLedger(c, dispatch.Read, func() { printRows(c, nil) }, func(l *dispatch.Ledger) error {
		rows, err := l.List(dispatch.Filter{Active: c.Bool("active"), Scope: given(c, "scope")})
		if err != nil {
			return err
		}
		printRows(c, rows)
		return nil
	})
}

func printRows(c *cli.Context, rows []dispatch.Dispatch) {
	if !c.Bool("json") {
		for i := range rows {
			d := &rows[i]
			fmt.Printf("%s\t%s\t%s\t%s\n", spec.Name(d.ID), spec.Shown(string(d.Status)), spec.Name(d.AgentType), spec.Name(d.Name.Value))
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

// poll implements `sbx dispatch poll`.
func (p *program) poll(c *cli.Context) error {
	if c.Args().Len() == 0 {
		return p.pollAll(c)
	}
	return p.withOne(c, func(l *dispatch.Ledger, name string) (dispatch.Dispatch, error) { return p.world.Poll(l, name) })
}

// pollAll polls the dispatches that have not ended.
func (p *program) pollAll(c *cli.Context) error {
	return p.withLedger(c, dispatch.Alter, func() { printRows(c, nil) }, func(l *dispatch.Ledger) error {
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
	})
}

// withOne calls do with the dispatch on the command line and prints the result.
func (p *program) withOne(c *cli.Context, do func(*dispatch.Ledger, string) (dispatch.Dispatch, error)) error {
	return p.withID(c, dispatch.Alter, func(l *dispatch.Ledger, _ dispatch.Place, name string) error {
		d, err := do(l, name)
		if err != nil {
			return err
		}
		return print(c, &d)
	})
}

// wait implements `sbx dispatch wait`.
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
		d, err := p.world.Wait(l, name, every, timeout)
		if d.Status == dispatch.Failed || d.Status == dispatch.TimedOut {
			p.status = exitFailed
		}
		return d, err
	})
}

// kill implements `sbx dispatch kill`.
func (p *program) kill(c *cli.Context) error {
	return p.withID(c, dispatch.Alter, func(l *dispatch.Ledger, _ dispatch.Place, name string) error {
		d, err := p.world.Stop(l, name, dispatch.Cancelled)
		switch {
		case err != nil:
			return err
		case d.Status == dispatch.Cancelled:
			fmt.Println("killed")
		default: // the dispatch ended before
			fmt.Println("it had ended: " + string(d.Status))
		}
		return nil
	})
}
