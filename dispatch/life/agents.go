package life

import (
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
	"sbx/spec/agent"
)

// maxWord is the longest prompt that is passed as an argument. Linux allows 128 KiB for
// each (MAX_ARG_STRLEN).
const maxWord = 100 << 10

// launcher is the command line of an agent that runs headless with its JSON stream on
// stdout.
type launcher struct {
	agent  spec.Agent
	words  []string
	model  string                     // the flag for the model
	free   []string                   // flags to work without asking, used unless a list of tools limits the agent
	prompt func(text string) []string // the arguments for a prompt
	stdin  []string                   // the arguments to read the prompt from stdin
}

// launchers has a row for each agent whose stream sbx can read.
var launchers = []launcher{
	{spec.Codex, []string{"codex", "exec", "--json", "--skip-git-repo-check"}, "--model", nil,
		func(p string) []string { return []string{"--", p} }, []string{"-"}},
	{spec.Claude, []string{"claude", "-p", "--output-format", "stream-json", "--verbose"}, "--model",
		[]string{"--permission-mode", "bypassPermissions"},
		func(p string) []string { return []string{"--", p} }, nil},
	{spec.Gemini, []string{"gemini", "--output-format", "stream-json"}, "--model", []string{"--approval-mode", "yolo"},
		func(p string) []string { return []string{"--prompt=" + p} }, nil},
}

func launcherOf(agentType string) *launcher {
	for i := range launchers {
		if launchers[i].agent.String() == agentType {
			return &launchers[i]
		}
	}
	return nil
}

// command returns the command line of a job, and the file for its stdin, "" for none. An
// unknown agent type is the name of a program that reads its prompt from stdin.
func (j *Job) command(s *spec.SandboxSpec, prompt string, root bool) (argv []string, stdin string, err error) {
	if j.Argv != nil {
		return j.Argv, j.Prompt, nil
	}
	l := launcherOf(j.Agent)
	if l == nil {
		if !plainProgram(j.Agent) {
			return nil, "", &spec.Problem{On: "agent_type", Do: "run the agent " + doc.Quote(doc.Cut(j.Agent)), Why: "that is not the name of a program",
				Help: "use claude, codex, gemini, or the name of a program that reads its prompt from stdin"}
		}
		return []string{j.Agent}, j.Prompt, nil
	}
	argv = append([]string{}, l.words...)
	if j.Model != "" {
		argv = append(argv, l.model+"="+j.Model)
	}
	// claude refuses to run as root without its permission checks, and gemini without them
	// would ignore tools_denied.
	if !s.ToolsAllowed.Set && !(root && l.agent == spec.Claude) && !(len(s.ToolsDenied.Value) > 0 && l.agent == spec.Gemini) {
		argv = append(argv, l.free...)
	}
	if len(prompt) > maxWord || strings.IndexByte(prompt, 0) >= 0 {
		return append(argv, l.stdin...), j.Prompt, nil
	}
	return append(argv, l.prompt(prompt)...), "", nil
}

// plainProgram reports whether a text can only be the name of a program.
func plainProgram(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_' && c != '.' && c != '+') {
			return false
		}
	}
	return s != "" && len(s) < 200
}

// watched returns the agent whose stream sbx exec reads when it runs argv; 0 for none.
func watched(s *spec.SandboxSpec, argv []string, real func(string) string) spec.Agent {
	c := agent.Identify(argv, real)
	if s.Agent.Set {
		if c = (agent.Command{}); s.Agent.Value != spec.NoAgent {
			c = agent.Named(s.Agent.Value, argv, real)
		}
	}
	if c.Agent == 0 || !agent.ReadArgs(c.Agent, c.Args(argv)).Stream {
		return 0
	}
	return c.Agent
}

// advisory are the fields that a dispatch requests as best effort, unless its spec sets
// require_available: some agents have no flags for them.
var advisory = []string{"tools_allowed", "tools_denied", "max_turns"}
