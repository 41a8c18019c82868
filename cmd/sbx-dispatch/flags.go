package main

import (
	"sbx/spec"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"
)

func word(name, usage string, aliases ...string) cli.Flag {
	return &cli.StringFlag{Name: name, Aliases: aliases, Usage: usage}
}

func yes(name, usage string) cli.Flag { return &cli.BoolFlag{Name: name, Usage: usage} }

// foreign returns a flag of Intercore's that sbx refuses with an explanation.
func foreign(name string) cli.Flag {
	if name == "scheduled" {
		return &cli.BoolFlag{Name: name, Hidden: true}
	}
	return &cli.StringFlag{Name: name, Hidden: true}
}

// projectFlag returns the flag of all subcommands except spawn and driver.
func projectFlag() cli.Flag {
	return word("project", "the `DIR` whose ledger it is; the current directory")
}

// ledgerFlag returns the flag of all subcommands.
func ledgerFlag() cli.Flag {
	return word("db", "the ledger's `FILE`; else the nearest .clavain/intercore.db from the project upwards, else the caller's own")
}

// duration returns the value of a flag: a Go duration, or a number of seconds. 0 has
// Intercore's meaning: no timeout, the default pause, any age.
func duration(c *cli.Context, name string) (time.Duration, error) {
	s := c.String(name)
	if !c.IsSet(name) {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		n, e := strconv.ParseInt(s, 10, 32)
		d, err = time.Duration(n)*time.Second, e
	}
	if err != nil || d < 0 {
		return 0, usageError(c.Command.Name + ": --" + name + " wants a time as 90s, 30m or a number of seconds, and not " + spec.Word(s))
	}
	return d, nil
}

// id returns the only argument of a subcommand.
func id(c *cli.Context) (string, error) {
	if c.Args().Len() != 1 || c.Args().First() == "" {
		return "", usageError(c.Command.Name + ": which dispatch? sbx dispatch " + c.Command.Name + " ID")
	}
	return c.Args().First(), nil
}

// none returns an error if a subcommand has arguments.
func none(c *cli.Context) error {
	if c.Args().Len() > 0 {
		return usageError(c.Command.Name + ": " + spec.Word(c.Args().First()) + " is too much")
	}
	return nil
}

// given returns a flag's value; absent if the flag is.
func given(c *cli.Context, name string) spec.Opt[string] {
	if !c.IsSet(name) {
		return spec.Opt[string]{}
	}
	return spec.Some(c.String(name))
}
