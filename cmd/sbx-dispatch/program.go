package main

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"sbx/dispatch"
	"sbx/dispatch/life"
	"sbx/spec"
)

// program is one run of this program.
type program struct {
	world   *life.World
	command []string // what stands behind "--"
	bare    bool     // there is a "--"
	status  int
}

// usageError is a command line that does not hold.
type usageError string

func (e usageError) Error() string { return string(e) }

// app is the command line.
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

// named refuses a path that is empty, as a variable that is not set: another
// would be taken in its place.
func named(c *cli.Context) error {
	for _, name := range []string{"db", "project", "prompt-file", "output", "cd", "output-last-message"} {
		if c.IsSet(name) && c.String(name) == "" {
			return usageError(c.Command.Name + ": --" + name + " names nothing")
		}
	}
	return nil
}

// arrange puts the words into the order that the library reads: the flags of a
// verb may stand behind its arguments, and --db in front of the verb. What
// follows "--" is the command.
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

// fail tells an error and gives the exit status for it.
func (p *program) fail(err error) int {
	var usage usageError
	var none *dispatch.NotFound
	p.status = exitRefused
	switch {
	case errors.As(err, &usage):
		p.status = exitUsage
		say(os.Stderr, err.Error())
		say(os.Stderr, "hint: sbx dispatch --help")
	case errors.As(err, &none):
		p.status = exitFailed
		say(os.Stderr, spec.Shown(err.Error()))
	default:
		for _, problem := range spec.AsProblems(err) {
			tell(os.Stderr, problem)
		}
	}
	return p.status
}

// say writes a line for a person.
func say(to io.Writer, text string) {
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		_, _ = io.WriteString(to, "sbx-dispatch: "+line+"\n")
	}
}

// tell tells a refusal.
func tell(to io.Writer, p *spec.Problem) {
	for _, line := range spec.Told(p) {
		say(to, spec.Shown(line))
	}
}
