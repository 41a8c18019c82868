package life

import (
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
	"sbx/spec/agent"
)

// maxWord is how long a prompt may be to be a word of a command line, where
// Linux allows 128 KiB each (MAX_ARG_STRLEN).
const maxWord = 100 << 10

// launcher is how an agent is run headless, with its JSON stream on stdout.
type launcher struct {
	agent  spec.Agent
	words  []string
	model  string   // the flag that names the model
	free   []string // what lets it work without asking, where no list of tools says what it may
	prompt func(text string) []string
	stdin  []string // the words by which it reads the prompt from stdin
}

// launchers has a row for each agent whose stream is known.
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

// command is what a job runs, and what it gets on stdin: the name of a file, ""
// for nothing. The agent of a type that is not known is the program of that
// name, which reads its prompt from stdin.
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
	// claude refuses root its own checks to be off; gemini keeps from no tool then.
	if !s.ToolsAllowed.Set && !(root && l.agent == spec.Claude) && !(len(s.ToolsDenied.Value) > 0 && l.agent == spec.Gemini) {
		argv = append(argv, l.free...)
	}
	if len(prompt) > maxWord || strings.IndexByte(prompt, 0) >= 0 {
		return append(argv, l.stdin...), j.Prompt, nil
	}
	return append(argv, l.prompt(prompt)...), "", nil
}

// plainProgram tells whether a text is the name of a program and nothing else.
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

// watched is the agent whose stream sbx exec reads when it runs argv; 0 where
// there is none.
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

// advisory are the fields that a dispatch asks for as far as they can be had, unless
// its spec requires all that it asks for: an agent's command line may have no words for them.
var advisory = []string{"tools_allowed", "tools_denied", "max_turns"}
