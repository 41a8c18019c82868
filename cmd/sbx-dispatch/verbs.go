package main

import (
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"sbx/spec"
)

func word(name, usage string, aliases ...string) cli.Flag {
	return &cli.StringFlag{Name: name, Aliases: aliases, Usage: usage}
}

func yes(name, usage string) cli.Flag { return &cli.BoolFlag{Name: name, Usage: usage} }

// foreign is a flag of Intercore's that is known, to be refused with its reason.
func foreign(name string) cli.Flag {
	if name == "scheduled" {
		return &cli.BoolFlag{Name: name, Hidden: true}
	}
	return &cli.StringFlag{Name: name, Hidden: true}
}

// projectFlag is every verb's but spawn's and the driver's: whose ledger it is.
func projectFlag() cli.Flag {
	return word("project", "the `DIR` whose ledger it is; the current directory")
}

// ledgerFlag is every verb's.
func ledgerFlag() cli.Flag {
	return word("db", "the ledger's `FILE`; else the nearest .clavain/intercore.db from the project upwards, else the caller's own")
}

// verbs are the words of the command line. They are made anew for each use: the
// library writes into them.
func (p *program) verbs() []*cli.Command {
	return []*cli.Command{
		{Name: "spawn", Usage: "start a command under sbx exec, detached, and print its id", ArgsUsage: "-- command [args]", Action: p.spawn,
			Description: "Validates the spec, stores it byte for byte, starts the command and prints the\ndispatch's id. Without a command the agent of --type is run.",
			Flags: []cli.Flag{
				word("sandbox-spec", "a SandboxSpec as `JSON`, or @FILE; stored as it is given"),
				yes("no-validate", "store the spec whatever it is"),
				word("sandbox", "a plain `MODE`, which an access_mode of the spec supersedes; workspace-write"),
				word("project", "the `DIR` that the command starts in; the current directory"),
				word("prompt-file", "a `FILE`: the agent's prompt, or the command's stdin"),
				word("output", "the `FILE` that stdout goes to, or an agent's last message"),
				word("name", "a `NAME` for people"),
				word("model", "the agent's `MODEL`"),
				word("type", "the agent's `TYPE`: claude, codex, gemini, or a program that reads its prompt from stdin"),
				word("timeout", "end it after `TIME`: 90s, 30m, or seconds"),
				word("scope-id", "an `ID` that dispatches are listed by"),
				word("parent-id", "the `ID` of what it belongs to"),
				foreign("scheduled"), foreign("scheduler-session"), foreign("dispatch-sh"),
				yes("json", "print {id, pid}"), ledgerFlag()}},
		{Name: "status", Usage: "print a dispatch", ArgsUsage: "ID", Action: p.show,
			Flags: []cli.Flag{yes("json", "one JSON object, sandbox_spec and sandbox_effective nested in it"), projectFlag(), ledgerFlag()}},
		{Name: "list", Usage: "list the dispatches, the newest first", Action: p.list,
			Flags: []cli.Flag{yes("active", "those that have not ended"), word("scope", "those of a scope's `ID`"), yes("json", "a list of JSON objects"), projectFlag(), ledgerFlag()}},
		{Name: "poll", Usage: "find the truth for a dispatch, or for all that have not ended", ArgsUsage: "[ID]", Action: p.poll,
			Flags: []cli.Flag{yes("json", "as status"), projectFlag(), ledgerFlag()}},
		{Name: "wait", Usage: "wait for a dispatch to end", ArgsUsage: "ID", Action: p.wait,
			Description: "Exit status: 0, or 1 where it failed or timed out.",
			Flags: []cli.Flag{word("timeout", "stop it after `TIME`, with the status timeout"), word("poll", "look every `TIME`; 100ms"),
				yes("json", "as status"), projectFlag(), ledgerFlag()}},
		{Name: "kill", Usage: "end a dispatch: by SIGTERM, three seconds later by force", ArgsUsage: "ID", Action: p.kill, Flags: []cli.Flag{projectFlag(), ledgerFlag()}},
		{Name: "tokens", Usage: "set a dispatch's counts of tokens", ArgsUsage: "ID", Action: p.tokens,
			Flags: []cli.Flag{word("in", "read: `N`"), word("out", "written: `N`"), word("cache", "read from a cache: `N`"), yes("set", "as without it"), yes("json", "print JSON"), projectFlag(), ledgerFlag()}},
		{Name: "retry", Usage: "make a new row for a dispatch that failed or timed out", ArgsUsage: "ID", Action: p.retry,
			Description: "Prints the new id, the attempt and how long to wait before it is started; starts\nnothing by itself. Three times at most; with --escalate as long as there is a model:\ntwo attempts by each of sonnet, opus and (CLAVAIN_FABLE_AVAILABLE=1) fable, from the\ndispatch's own on.",
			Flags: []cli.Flag{yes("start", "start it at once"), yes("escalate", "an agent's: by the next model where the last has failed twice, and with what failed in its prompt"),
				word("failure-mode", "how it failed: `MODE` is timeout, error, verdict-fail or criteria-fail"), word("failure-detail", "what failed: a `TEXT` for the prompt"), foreign("chain-key"),
				yes("json", "print {new_id, attempt, backoff_ms}, with --escalate model and escalated too"), projectFlag(), ledgerFlag()}},
		{Name: "prune", Usage: "delete dispatches that have ended", Action: p.prune,
			Flags: []cli.Flag{word("older-than", "those made longer ago than `TIME`"), projectFlag(), ledgerFlag()}},
		{Name: "driver", Usage: "be what Intercore starts as dispatch.sh", Action: p.drive,
			Description: "Finds the row by the output file in the project's ledger ($SBX_DISPATCH_DB where\nthat is another), runs its agent under its sandbox_spec, and ends the row.\nscripts/dispatch.sh calls it.",
			Flags: []cli.Flag{word("cd", "the project's `DIR`", "C"), word("output-last-message", "the `FILE` for the agent's last message", "o"),
				word("prompt-file", "the prompt's `FILE`"), word("name", "a `NAME` for people", "n"), word("model", "the agent's `MODEL`", "m"),
				word("sandbox", "the plain `MODE`, where the row has none", "s"), word("timeout", "end it after so many `SECONDS`"),
				yes("leave-status", "set sandbox_effective alone, and leave the status to Intercore's own poll"), ledgerFlag()}},
		{Name: "man", Usage: "print the manual page", Action: p.manual},
	}
}

// duration reads a time: as Go writes it, or as seconds. 0 is what it is for
// Intercore: no timeout, no pause of the caller's own, however young.
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

// id is the one argument of a verb.
func id(c *cli.Context) (string, error) {
	if c.Args().Len() != 1 || c.Args().First() == "" {
		return "", usageError(c.Command.Name + ": which dispatch? sbx dispatch " + c.Command.Name + " ID")
	}
	return c.Args().First(), nil
}

// none demands that a verb has no arguments.
func none(c *cli.Context) error {
	if c.Args().Len() > 0 {
		return usageError(c.Command.Name + ": " + spec.Word(c.Args().First()) + " is too much")
	}
	return nil
}
