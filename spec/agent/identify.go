package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Command is an agent found in a command line.
type Command struct {
	Agent spec.Agent // 0 for none that is known
	// At is the index of the agent's first own argument: right after its program's name, which
	// may come after the words of env, node or npx.
	At int
	// By are the programs and scripts that the command line names before At, as typed, and the
	// directories from which its options take them: whoever can write there decides what runs.
	By []string
	// Near are the files of the current directory, or one above, that npx and similar programs
	// run instead of the installed agent.
	Near []string
}

// Args returns the agent's own arguments.
func (c Command) Args(argv []string) []string {
	if c.Agent == 0 {
		return nil
	}
	return argv[c.At:]
}

// Identify returns the agent that a command line starts. It recognizes the name of the program,
// links to it, env and node in front of it, and npx and similar programs. real returns the file
// that a program's name or path leads to, "" if there is none. If it is not certain which agent
// starts, Identify returns none.
func Identify(argv []string, real func(name string) string) Command {
	if c := walk(argv, real); c.Agent != 0 {
		return c
	}
	return Command{}
}

// Named returns the Command for an agent that a document names, whatever the program is called.
func Named(a spec.Agent, argv []string, real func(name string) string) Command {
	if at := walk(argv, real).At; at > 0 {
		return Command{Agent: a, At: at}
	}
	return Command{Agent: a, At: min(skipEnv(argv)+1, len(argv))}
}

// walk skips the words before an agent's own arguments. It sets At even for a program that is
// not an agent; 0 if there is no program.
func walk(argv []string, real func(name string) string) Command {
	at := skipEnv(argv)
	if at >= len(argv) || argv[at] == "" {
		return Command{}
	}
	c := started(argv, at, real)
	for _, word := range argv[:at] {
		switch name, _, _ := strings.Cut(word, "="); {
		case base(word) == "env":
			c.By = append(c.By, word)
		case name == "PATH", name == "--chdir", strings.HasPrefix(name, "-C"): // the program is looked for in other directories
			c.By = append(c.By, "./.")
		}
	}
	c.By = append(c.By, argv[at])
	return c
}

// started is walk from the program at index at on.
func started(argv []string, at int, real func(name string) string) Command {
	switch name := base(argv[at]); name {
	case "node", "nodejs":
		return byScript(argv, at+1, real)
	case "bun":
		if at+1 < len(argv) && argv[at+1] == "x" {
			return byPackage(argv, at+2)
		}
		return byScript(argv, at+1, real)
	case "npx", "bunx", "pnpx":
		return byPackage(argv, at+1)
	case "npm":
		return byNPM(argv, at+1)
	case "pnpm", "yarn":
		if at+1 < len(argv) && (argv[at+1] == "exec" || argv[at+1] == "dlx") {
			return byPackage(argv, at+2)
		}
		return Command{}
	default:
		if a := byName(name); a != 0 {
			return Command{Agent: a, At: at + 1}
		}
		return Command{Agent: byFile(real(argv[at])), At: at + 1}
	}
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// byName returns the agent whose program has a name.
func byName(name string) spec.Agent {
	for _, ad := range adapters {
		if ad.agent.String() == name {
			return ad.agent
		}
	}
	return 0
}

// byFile returns the agent whose program is installed at path. A package inside an agent's
// package is another program.
func byFile(path string) spec.Agent {
	if path == "" {
		return 0
	}
	for _, ad := range adapters {
		if base(path) == ad.agent.String() {
			return ad.agent
		}
		for _, in := range ad.installed {
			if _, rest, ok := strings.Cut(path, in); ok && !strings.Contains("/"+rest, "/node_modules/") {
				return ad.agent
			}
		}
	}
	return 0
}

// byScript finds the agent whose script node runs. A script's name is always a path: node does not
// search PATH.
func byScript(argv []string, at int, real func(name string) string) Command {
	at, ok := skipOptions(argv, at, nodeValues, nodeTexts)
	if ok && at < len(argv) && base(argv[at-1]) == "bun" && argv[at] == "run" {
		at++
	}
	if !ok || at >= len(argv) || argv[at] == "" || argv[at] == "-" {
		return Command{}
	}
	script := argv[at]
	if !strings.Contains(script, "/") {
		script = "./" + script
	}
	return Command{Agent: byFile(real(script)), At: at + 1, By: []string{script}}
}

// byPackage finds the agent whose package npx or a similar program runs. The options of such a
// program end before the first other word.
func byPackage(argv []string, at int) Command {
	from := at
	at, ok := skipOptions(argv, at, npxValues, npxTexts)
	if !ok || at >= len(argv) {
		return Command{}
	}
	a := packageAgent(argv[at])
	if a == 0 {
		a = byName(argv[at])
	}
	c := Command{At: at + 1}
	// --package names the package of the program: an agent's program is in the agent's package.
	for i := from; i < at; i++ {
		word, value, given := strings.Cut(argv[i], "=")
		if !given && slices.Contains(npxValues, word) && i+1 < at {
			i++
			value = argv[i]
		}
		switch {
		case word == "-p", word == "--package":
			if packageAgent(value) != a {
				a = 0
			}
		case strings.HasPrefix(value, "/"):
			c.By = append(c.By, value)
		case value != "":
			c.By = append(c.By, "./"+value)
		}
	}
	if c.Agent = a; a != 0 {
		// The project itself may be a package with a program of that name.
		c.Near = []string{"node_modules/.bin/" + a.String(), "node_modules/" + find(a).npm, "package.json"}
		if packageAgent(argv[at]) != 0 {
			c.Near = c.Near[:2]
		}
	}
	return c
}

// byNPM finds the agent that `npm exec` runs. npm takes all options up to the first "--" for its
// own: only arguments after it are the agent's, so without it flags cannot be added.
func byNPM(argv []string, at int) Command {
	if at >= len(argv) || argv[at] != "exec" && argv[at] != "x" {
		return Command{}
	}
	end := at + slices.Index(argv[at:], "--")
	if end < at {
		return Command{}
	}
	switch c := byPackage(argv[:end], at+1); c.At {
	case 0: // npm exec -- PROGRAM args
		return byPackage(argv, at+1)
	case end: // npm exec PACKAGE -- args
		c.At = end + 1
		return c
	}
	return Command{}
}

// packageAgent returns the agent of an npm package, which may have a version.
func packageAgent(name string) spec.Agent {
	for _, ad := range adapters {
		if name == ad.npm || strings.HasPrefix(name, ad.npm+"@") {
			return ad.agent
		}
	}
	return 0
}

// The options of node, npx and env that take the next word as their value, and those that take
// the text of a program, so that no file runs.
var (
	nodeValues = []string{"-r", "--require", "--import", "-C", "--conditions", "--loader", "--experimental-loader", "--env-file", "--cwd"}
	nodeTexts  = []string{"-e", "--eval", "-p", "--print", "-pe", "-c", "--check", "-i", "--interactive"}
	npxValues  = []string{"-p", "--package", "-w", "--workspace", "--registry", "--cache", "--prefix", "--userconfig", "--loglevel", "--filter"}
	npxTexts   = []string{"-c", "--call", "--shell-mode"}
	envValues  = []string{"-u", "--unset", "-C", "--chdir", "-a", "--argv0"}
	envTexts   = []string{"-S", "--split-string"}
)

// skipOptions returns the index of the first word that is neither an option nor the value of one;
// false if an option of texts comes first.
func skipOptions(argv []string, at int, values, texts []string) (int, bool) {
	for at < len(argv) && strings.HasPrefix(argv[at], "-") && argv[at] != "-" {
		word, _, _ := strings.Cut(argv[at], "=")
		if slices.Contains(texts, word) {
			return at, false
		}
		at++
		if argv[at-1] == "--" {
			break
		}
		if slices.Contains(values, argv[at-1]) {
			at++
		}
	}
	return min(at, len(argv)), true
}

// skipEnv returns the index of the command after env(1), if env is in front; len(argv) if env
// runs no command or it is not certain which.
func skipEnv(argv []string) int {
	at := 0
	for at < len(argv) && base(argv[at]) == "env" {
		from := at + 1
		next, ok := skipOptions(argv, from, envValues, envTexts)
		for _, word := range argv[from:next] {
			// Several letters in one word are ambiguous, unless they are an option with its value.
			ok = ok && (len(word) < 3 || word[0] != '-' || word[1] == '-' || strings.IndexByte("uCa", word[1]) >= 0)
		}
		if !ok {
			return len(argv)
		}
		if at = next; at < len(argv) && argv[at] == "-" { // means -i
			at++
		}
		for at < len(argv) && strings.Contains(argv[at], "=") {
			at++
		}
	}
	return at
}
