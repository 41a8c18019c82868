package main

import (
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"sbx/spec"
)

// verbs returns the subcommands. Each call returns new ones, because the library modifies
// them.
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

// app returns the command line for the library.
func (p *program) app() *cli.App {
	usage := func(c *cli.Context, err error, _ bool) error { return usageError(c.Command.Name + ": " + err.Error()) }
	app := &cli.App{
		Name: "sbx dispatch", Usage: "send commands off under a sandbox, and keep a ledger of what was requested and what was enforced",
		Version: version, HideHelpCommand: true, Writer: os.Stdout, ErrWriter: os.Stderr,
		OnUsageError:    func(_ *cli.Context, err error, _ bool) error { return usageError(err.Error()) },
		ExitErrHandler:  func(*cli.Context, error) {},
		CommandNotFound: func(_ *cli.Context, name string) { p.fail(usageError("unknown command " + spec.Word(name))) },
		Action: func(c *cli.Context) error {
			if c.Args().Len() > 0 {
				return usageError("unknown command " + spec.Word(c.Args().First()))
			}
			c.App.Writer = os.Stderr
			p.status = exitUsage
			return cli.ShowAppHelp(c)
		},
		Commands: p.verbs(),
	}
	for _, c := range app.Commands {
		c.OnUsageError, c.HideHelpCommand, c.Before = usage, true, named
	}
	return app
}

// named refuses empty paths, such as those of unset variables, for which a default would be
// used.
func named(c *cli.Context) error {
	for _, name := range []string{"db", "project", "prompt-file", "output", "cd", "output-last-message"} {
		if c.IsSet(name) && c.String(name) == "" {
			return usageError(c.Command.Name + ": --" + name + " names nothing")
		}
	}
	return nil
}

// arrange reorders the arguments for the library, which wants the flags between the
// subcommand and its arguments: sbx accepts flags after the arguments, and --db before the
// subcommand. It stores the arguments after "--" in p.command.
func (p *program) arrange(args []string) []string {
	words := args[1:]
	for i, w := range words {
		if w == "--" {
			p.bare, p.command, words = true, words[i+1:], words[:i]
			break
		}
	}
	var front []string
	for len(words) > 0 && strings.HasPrefix(words[0], "--db") {
		n := 1
		if words[0] == "--db" && len(words) > 1 {
			n = 2
		}
		front, words = append(front, words[:n]...), words[n:]
	}
	if len(words) == 0 {
		return append(args[:1:1], front...)
	}
	valued := map[string]bool{}
	for _, c := range p.verbs() {
		if c.Name != words[0] {
			continue
		}
		for _, f := range c.Flags {
			if _, isBool := f.(*cli.BoolFlag); !isBool {
				for _, name := range f.Names() {
					valued[name] = true
				}
			}
		}
	}
	flags, rest := front, []string(nil)
	for i := 1; i < len(words); i++ {
		w := words[i]
		if len(w) < 2 || w[0] != '-' {
			rest = append(rest, w)
			continue
		}
		flags = append(flags, w)
		if name := strings.TrimLeft(w, "-"); valued[name] && i+1 < len(words) {
			i++
			flags = append(flags, words[i])
		}
	}
	out := append(append(args[:1:1], words[0]), flags...)
	if len(rest) > 0 {
		out = append(append(out, "--"), rest...)
	}
	return out
}
