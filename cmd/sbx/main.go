// The Go runtime would look every second how many processors this program may
// use, and has a goroutine, and so a thread, for the day when that changes.
//
//go:debug updatemaxprocs=0
package main

import (
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
	exitFailed  = 1 // check: the documents do not hold
	exitUsage   = 2 // the command line
	exitRefused = run.StatusRefused
)

// program is what the program does: args with the name in front.
func program(args, environ []string, std streams) int {
	if len(args) < 2 {
		std.say(overview())
		return exitUsage
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
		return other(name, args, environ, std)
	}
	c, err := v.parse(args[2:])
	if err != nil {
		std.say(err.Error())
		std.say("hint: sbx help " + v.name)
		return exitUsage
	}
	c.std, c.environ = std, environ
	if c.has("help") || c.has("h") {
		std.print(v.help())
		return exitOK
	}
	return v.run(c)
}

// other runs sbx-NAME from beside this program or from PATH, as git does for
// what is none of its own.
func other(name string, args, environ []string, std streams) int {
	if name != "" && name[0] == '-' || !plainName(name) {
		std.say("no flag " + spec.Word(name))
		std.say("hint: sbx help")
		return exitUsage
	}
	for _, path := range besideAndPath("sbx-"+name, environ) {
		if err := sys.Become(path, args[2:], environ); err != nil {
			std.say("cannot run " + path + ": " + err.Error())
			return exitRefused
		}
	}
	std.say("unknown command " + spec.Word(name) + nearVerb(name))
	std.say("hint: sbx help")
	return exitUsage
}

func plainName(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' && i > 0) {
			return false
		}
	}
	return s != ""
}
