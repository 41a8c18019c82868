package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Command is an agent found in a command line.
type Command struct {
	Agent spec.Agent // 0 for none that is known
	// At is where in the arguments the agent's own begin: right after its
	// program's name, however many words start that.
	At int
	// By are the programs and scripts that the command line names up to there, as
	// typed, and the directories that its options take them from: who may write there
	// decides what runs.
	By []string
	// Near are the files that npx and its like take first, where one stands in the
	// current directory or one above.
	Near []string
}

// Args are the arguments that are the agent's own.
func (c Command) Args(argv []string) []string {
	if c.Agent == 0 {
		return nil
	}
	return argv[c.At:]
}

// Identify tells which agent a command line starts: by the name of its program,
// also behind a link, behind env, behind node with its script, and by npx and
// its like. real gives the file that a program's name or path leads to, "" where
// there is none. What cannot be told for certain is no agent.
func Identify(argv []string, real func(name string) string) Command {
	if c := walk(argv, real); c.Agent != 0 {
		return c
	}
	return Command{}
}

// Named is the agent that a document says a command line starts, whatever its
// program is called.
func Named(a spec.Agent, argv []string, real func(name string) string) Command {
	if at := walk(argv, real).At; at > 0 {
		return Command{Agent: a, At: at}
	}
	return Command{Agent: a, At: min(skipEnv(argv)+1, len(argv))}
}

// walk goes over what stands in front of an agent's own arguments. Their place
// is told for a program that is no agent as well; 0 where there is none.
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
		case name == "PATH", name == "--chdir", strings.HasPrefix(name, "-C"): // another directory than is looked in
			c.By = append(c.By, "./.")
		}
	}
	c.By = append(c.By, argv[at])
	return c
}

// started is walk from the program on, which stands at at.
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

// byName knows an agent by what its program is called.
func byName(name string) spec.Agent {
	for _, ad := range adapters {
		if ad.agent.String() == name {
			return ad.agent
		}
	}
	return 0
}

// byFile knows an agent by where its program lies: a package of its own within
// the agent's is another program.
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

// byScript knows an agent by the script that node runs. A script's name is a
// path: none is looked up along PATH.
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

// byPackage knows an agent by the package that npx and its like run, whose
// options end with the first word that is none.
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
	// --package says where the program comes from: an agent's is in its own.
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
		// The project's own package may have a program of that name.
		c.Near = []string{"node_modules/.bin/" + a.String(), "node_modules/" + find(a).npm, "package.json"}
		if packageAgent(argv[at]) != 0 {
			c.Near = c.Near[:2]
		}
	}
	return c
}

// byNPM knows an agent behind `npm exec`. npm takes options for its own
// wherever they stand up to the first "--": only what is behind that is the
// agent's, so without one there is no place for flags.
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

// packageAgent is the agent of an npm package, which may have a version.
func packageAgent(name string) spec.Agent {
	for _, ad := range adapters {
		if name == ad.npm || strings.HasPrefix(name, ad.npm+"@") {
			return ad.agent
		}
	}
	return 0
}

// Options whose value is a word of its own, and those whose value is a program's
// text, so that no file is run.
var (
	nodeValues = []string{"-r", "--require", "--import", "-C", "--conditions", "--loader", "--experimental-loader", "--env-file", "--cwd"}
	nodeTexts  = []string{"-e", "--eval", "-p", "--print", "-pe", "-c", "--check", "-i", "--interactive"}
	npxValues  = []string{"-p", "--package", "-w", "--workspace", "--registry", "--cache", "--prefix", "--userconfig", "--loglevel", "--filter"}
	npxTexts   = []string{"-c", "--call", "--shell-mode"}
	envValues  = []string{"-u", "--unset", "-C", "--chdir", "-a", "--argv0"}
	envTexts   = []string{"-S", "--split-string"}
)

// skipOptions is where the first word stands that is no option, nor the value of
// one; false where an option of texts comes first.
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

// skipEnv is where the command stands behind env(1), if that is in front; the
// end where it runs none that can be told.
func skipEnv(argv []string) int {
	at := 0
	for at < len(argv) && base(argv[at]) == "env" {
		from := at + 1
		next, ok := skipOptions(argv, from, envValues, envTexts)
		for _, word := range argv[from:next] {
			// Several letters in one word, but for a value that is attached.
			ok = ok && (len(word) < 3 || word[0] != '-' || word[1] == '-' || strings.IndexByte("uCa", word[1]) >= 0)
		}
		if !ok {
			return len(argv)
		}
		if at = next; at < len(argv) && argv[at] == "-" { // as -i
			at++
		}
		for at < len(argv) && strings.Contains(argv[at], "=") {
			at++
		}
	}
	return at
}
