// Sbx-broker decides the calls of tools that a sandbox asks for, and carries them out
// outside of it. sbx starts it for a spec that names a broker; by hand it checks
// documents, answers questions and, inside, connects an agent to it.
package main

import (
	"os"
	"strings"

	"sbx/internal/broker"
	"sbx/internal/broker/document"
	"sbx/internal/doc"
	"sbx/spec"
)

// version is set by the linker.
var version = "devel"

// The exit statuses, which are sbx's.
const (
	exitOK      = 0
	exitFailed  = 1 // a step would be denied, or there is no such question
	exitUsage   = 2
	exitRefused = 125
)

// verb is one thing that the program does, with its arguments.
type verb struct{ name, args, does string }

// verbs are for the help, the manual and the shells.
var verbs = []verb{
	{"check", "--broker FILE [--plan FILE] [--spec FILE ...] [--spec-json JSON ...] [--profile NAME]", "say what would become of each step, and run nothing"},
	{"answer", "[ID yes|no]", "answer a question; without an ID ask on the terminal"},
	{"connect", "", "inside: carry MCP over stdio to the broker of the sandbox"},
	{"schema", "[broker|plan]", "print the JSON Schema of a document"},
	{"serve", "", "be the broker of a sandbox: sbx starts it"},
	{"man", "", "print the manual page"},
	{"completion", "bash|zsh|fish", "print the completions of a shell"},
}

const (
	about = "Decides calls of tools for what runs in a sandbox, by a Broker document and a\n" +
		"plan, and carries them out outside of it: see cmd/sbx-broker/README.md.\n"
	statuses = "0; 1 if a step would be denied, or no such question waits; 125 if\n" +
		"a document is refused; 2 for a bad command line.\n"
	example = "sbx-broker check --broker broker.yaml --plan plan.json --spec spec.json\n"
)

func usage() string {
	var b strings.Builder
	b.WriteString("usage: sbx-broker COMMAND [flags]\n\n" + about + "\n")
	for _, v := range verbs {
		if line := "  " + v.name + " " + v.args; len(line) < 19 {
			b.WriteString(line + strings.Repeat(" ", 19-len(line)) + v.does + "\n")
		} else {
			b.WriteString(line + "\n" + strings.Repeat(" ", 19) + v.does + "\n")
		}
	}
	b.WriteString("\nExit status: " + statuses + "\nExample:\n\n  " + example)
	return b.String()
}

// manual is sbx-broker(1).
func manual() string {
	var b strings.Builder
	b.WriteString(".TH SBX\\-BROKER 1\n.SH NAME\nsbx\\-broker \\- run tools for what is in a sandbox, outside of it\n" +
		".SH SYNOPSIS\n.B sbx\\-broker\n.I verb\n[flags]\n.SH DESCRIPTION\n" + doc.Roff(about) + ".SH VERBS\n")
	for _, v := range verbs {
		b.WriteString(".TP\n.B " + doc.Roff(strings.TrimSpace(v.name+" "+v.args)) + "\n" + doc.Roff(v.does) + "\n")
	}
	b.WriteString(".SH EXIT STATUS\n" + doc.Roff(statuses) + ".SH EXAMPLES\n.EX\n" + doc.Roff(example) + ".EE\n.SH SEE ALSO\n.BR sbx\\-exec (1),\n.BR sbx\\-spec (5)\n")
	return b.String()
}

// control is the descriptor of the socket to sbx.
const control = 3

func main() {
	args := os.Args[1:]
	verb := ""
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "serve":
		os.Exit(serve(args))
	case "check":
		os.Exit(check(args))
	case "answer":
		os.Exit(answer(args))
	case "connect":
		os.Exit(connect(args))
	case "schema":
		os.Exit(schema(args))
	case "--version", "-V", "version":
		print("sbx-broker " + version + "\n")
	case "--help", "-h", "help":
		print(usage())
	case "man":
		print(manual())
	case "completion":
		os.Exit(completion(args))
	default:
		complain("want a command: check, answer, connect, schema", "hint: sbx-broker help")
		os.Exit(exitUsage)
	}
}

func serve(args []string) int {
	socket := os.NewFile(control, "control")
	info, err := socket.Stat()
	if len(args) > 0 || err != nil || info.Mode()&os.ModeSocket == 0 {
		complain("it is started by sbx, for a sandbox", "hint: sbx exec --broker broker.yaml -- COMMAND")
		return exitUsage
	}
	if err := broker.Run(socket, os.Environ()); err != nil {
		complain("it lost the supervisor", "why: "+err.Error())
		return exitRefused
	}
	return exitOK
}

func connect(args []string) int {
	if len(args) > 0 {
		complain("connect takes no arguments")
		return exitUsage
	}
	if err := broker.Connect(os.Stdin, os.Stdout, os.Environ()); err != nil {
		complain("cannot reach the broker", "why: "+err.Error())
		return exitFailed
	}
	return exitOK
}

func schema(args []string) int {
	switch strings.Join(args, " ") {
	case "", "broker":
		print(document.BrokerSchema())
	case "plan":
		print(document.PlanSchema())
	default:
		complain("want schema broker or schema plan")
		return exitUsage
	}
	return exitOK
}

func print(text string) { _, _ = os.Stdout.WriteString(text) }

func complain(lines ...string) {
	for _, l := range lines {
		_, _ = os.Stderr.WriteString("sbx-broker: " + spec.Shown(l) + "\n")
	}
}

// refuse says a problem as sbx does.
func refuse(err error) int {
	complain(spec.Told(spec.AsProblems(err)[0])...)
	return exitRefused
}
