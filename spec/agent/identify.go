package agent

import (
	"strings"

	"sbx/spec"
)

// Command is an agent found in a command line.
type Command struct {
	Agent spec.Agent // 0 for none that is known
	// At is where in the arguments the agent's own begin: right after its
	// program's name, however many words start that.
	At int
}

// Args are the arguments that are the agent's own.
func (c Command) Args(argv []string) []string {
	if c.Agent == 0 {
		return nil
	}
	return argv[c.At:]
}

// Identify tells which agent a command line starts: by the name of its program,
// also behind a link, behind env, behind node with its script, and by npx. real
// gives the file that a program's name or path leads to, "" where there is none.
func Identify(argv []string, real func(name string) string) Command {
	for at := 0; at < len(argv); {
		name := base(argv[at])
		switch name {
		case "env":
			at = skipEnv(argv, at+1)
			continue
		case "node", "nodejs", "bun":
			at = skipFlags(argv, at+1, nodeValues)
			if name == "bun" && at < len(argv) && argv[at] == "run" {
				at++
			}
			if at < len(argv) {
				return known(byFile(real(argv[at])), at+1)
			}
		case "npx", "bunx", "pnpx":
			return byPackage(argv, at+1)
		case "npm", "pnpm", "yarn":
			if at+1 < len(argv) && (argv[at+1] == "exec" || argv[at+1] == "dlx" || argv[at+1] == "x") {
				return byPackage(argv, at+2)
			}
		default:
			if a := byName(name); a != 0 {
				return known(a, at+1)
			}
			return known(byFile(real(argv[at])), at+1)
		}
		break
	}
	return Command{}
}

func known(a spec.Agent, at int) Command {
	if a == 0 {
		return Command{}
	}
	return Command{Agent: a, At: at}
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// byName knows an agent by what its program is called.
func byName(name string) spec.Agent {
	for _, ad := range adapters {
		if ad.agent.String() == name {
			return ad.agent
		}
	}
	return 0
}

// byFile knows an agent by where its program lies.
func byFile(path string) spec.Agent {
	if path == "" {
		return 0
	}
	for _, ad := range adapters {
		if base(path) == ad.agent.String() {
			return ad.agent
		}
		for _, in := range ad.installed {
			if strings.Contains(path, in) {
				return ad.agent
			}
		}
	}
	return 0
}

// byPackage knows an agent by the package that npx and its like run.
func byPackage(argv []string, at int) Command {
	named := spec.Agent(0)
	for at < len(argv) && strings.HasPrefix(argv[at], "-") && argv[at] != "-" {
		word, value, given := strings.Cut(argv[at], "=")
		at++
		switch word {
		case "--":
		case "-p", "--package":
			if !given && at < len(argv) {
				value = argv[at]
				at++
			}
			named = packageAgent(value)
		case "-c", "--call":
			return Command{} // a shell's text
		}
	}
	if at < len(argv) && argv[at] == "--" {
		at++
	}
	if at == len(argv) {
		return Command{}
	}
	a := packageAgent(argv[at])
	if a == 0 {
		a = byName(argv[at])
	}
	if named != 0 && a != named {
		return Command{}
	}
	return known(a, at+1)
}

// packageAgent is the agent of an npm package, which may have a version.
func packageAgent(name string) spec.Agent {
	for _, ad := range adapters {
		if name == ad.npm || strings.HasPrefix(name, ad.npm+"@") {
			return ad.agent
		}
	}
	return 0
}

// nodeValues are node's options whose value is a word of its own.
var nodeValues = []string{"-r", "--require", "--import", "-C", "--conditions", "--loader", "--experimental-loader", "--env-file"}

// skipFlags is where the first word stands that is no flag, nor a flag's value.
func skipFlags(argv []string, at int, values []string) int {
	for at < len(argv) && strings.HasPrefix(argv[at], "-") && argv[at] != "-" {
		word := argv[at]
		at++
		if word == "--" {
			break
		}
		for _, v := range values {
			if word == v {
				at++
			}
		}
	}
	return min(at, len(argv))
}

// skipEnv is where env's command stands (env(1)).
func skipEnv(argv []string, at int) int {
	at = skipFlags(argv, at, []string{"-u", "--unset", "-C", "--chdir"})
	for at < len(argv) && strings.Contains(argv[at], "=") {
		at++
	}
	return at
}
