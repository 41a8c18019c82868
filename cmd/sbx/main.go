// The Go runtime would check every second how many processors this program may
// use, and keep a goroutine, and so a thread, for that.
//
//go:debug updatemaxprocs=0
package main

import (
	"strings"

	"sbx/internal/run"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap/launch"
)

// version is set by the linker.
var version = "devel"

func main() {
	launch.Slack()
	launch.Room()
	exit(program(launch.Args(), environ(), streams{in: 0, out: 1, err: 2}))
}

// The exit statuses of sbx itself.
const (
	exitOK      = 0
	exitFailed  = 1 // check: the documents are invalid
	exitUsage   = 2 // the command line is invalid
	exitRefused = run.StatusRefused
)

// program runs sbx with args, which include the program's name, and returns the exit
// status.
func program(args, environ []string, std streams) int {
	if len(args) < 2 {
		return std.misused(overview())
	}
	name := args[1]
	switch name {
	case run.RemoverVerb:
		run.Remover(args[2:], environ)
		return exitFailed
	case "-h", "--help", "help":
		return help(args[2:], environ, std)
	case "-V", "--version", "version":
		std.print("sbx " + version + "\n")
		return exitOK
	}
	v := find(name)
	if v == nil {
		return runOther(name, args, environ, std)
	}
	c, err := v.parse(args[2:])
	if err != nil {
		return std.misused(err.Error() + "\nhint: sbx help " + v.name)
	}
	c.std, c.environ = std, environ
	if c.has("help") || c.has("h") {
		std.print(v.help())
		return exitOK
	}
	return v.run(c)
}

// runOther handles a first word that is not in the table of commands.
func runOther(name string, args, environ []string, std streams) int {
	if !plainName(name) {
		return std.misused("no flag " + spec.Word(name) + "\nhint: sbx help")
	}
	return execProgram(name, args[2:], environ, std)
}

// execProgram executes sbx-NAME from the directory of this program or from PATH, as git does.
func execProgram(name string, args, environ []string, std streams) int {
	if plainName(name) {
		for _, path := range besideAndPath("sbx-"+name, environ) {
			if err := sys.Become(path, args, environ); err != nil {
				std.say("cannot run " + path + ": " + err.Error())
				return exitRefused
			}
		}
	}
	return std.misused("unknown command " + spec.Word(name) + nearVerb(name) + "\nhint: sbx help")
}

func plainName(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
