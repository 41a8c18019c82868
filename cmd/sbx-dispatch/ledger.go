package main

import (
	"os"
	"path/filepath"
	"sbx/dispatch"
	"sbx/dispatch/life"
	"sbx/spec"

	"github.com/urfave/cli/v2"
)

// withLedger calls do with the ledger of the current directory's project. It calls
// otherwise if that is the caller's own ledger and does not exist yet, since the first
// spawn creates it.
func (p *program) withLedger(c *cli.Context, mode dispatch.Mode, otherwise func(), do func(*dispatch.Ledger) error) error {
	l, at, err := p.open(c, mode)
	if _, there := dispatch.OwnerOf(at.Path); err != nil && at.Home && !there {
		otherwise()
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	return do(l)
}

// withID calls do with the ledger and the id on the command line.
func (p *program) withID(c *cli.Context, mode dispatch.Mode, do func(*dispatch.Ledger, dispatch.Place, string) error) error {
	name, err := id(c)
	if err != nil {
		return err
	}
	l, at, err := p.open(c, mode)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	return do(l, at, name)
}

// open opens the ledger of the current directory's project.
func (p *program) open(c *cli.Context, mode dispatch.Mode) (*dispatch.Ledger, dispatch.Place, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, dispatch.Place{}, &spec.Problem{On: "the current directory", Do: "find it", Why: err.Error()}
	}
	project := cwd
	if c.IsSet("project") {
		project = filepath.Clean(life.Absolute(c.String("project"), cwd))
	}
	at, err := p.world.Ledger(c.String("db"), &life.Job{Cwd: cwd, Project: project})
	if err != nil {
		return nil, at, err
	}
	l, err := dispatch.Open(at, mode)
	return l, at, err
}
