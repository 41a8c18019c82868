package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// client is one of the real agents, run without a terminal.
type client struct {
	name     string
	provider string            // the protocol that it speaks
	words    []string          // after the program's name; PROMPT is replaced
	free     []string          // switch its own checks off: in the control nothing else denies what the sandbox denies
	env      []string          // variables that it needs, with {URL} replaced
	state    map[string]string // files of its home
	tools    map[string]string // the record's name of a tool, by what a scenario does with it; "" if its stream has no such calls
	hidden   bool              // its stream does not show the calls of its sub-agents
}

// These are the agents. Without a server of its vendor an agent asks for sign-ins, updates and
// statistics; env, words and state prevent that.
var clients = []*client{
	{
		name: "claude", provider: "anthropic",
		words: []string{"-p", "PROMPT", "--output-format", "stream-json", "--verbose"},
		free:  []string{"--permission-mode", "bypassPermissions"},
		env:   []string{"ANTHROPIC_BASE_URL={URL}", "ANTHROPIC_API_KEY=fake", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
		state: map[string]string{".claude/settings.json": "{}\n"},
		tools: map[string]string{"shell": "Bash", "read": "Read", "write": "Write", "task": "Agent"},
	},
	{
		name: "codex", provider: "openai",
		words: []string{"exec", "--json", "PROMPT"},
		free:  []string{"--dangerously-bypass-approvals-and-sandbox"},
		env:   []string{"OPENAI_API_KEY=fake"},
		state: map[string]string{".codex/config.toml": `model_provider = "fake"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
[model_providers.fake]
name = "fake"
base_url = "{URL}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
supports_websockets = false
`},
		// Its stream has items, not tools; a task is only in its rollout file.
		tools:  map[string]string{"shell": "command_execution", "read": "command_execution", "write": "file_change", "wait": "collab_tool_call", "task": ""},
		hidden: true,
	},
	{
		name: "gemini", provider: "gemini",
		words: []string{"-p", "PROMPT", "--output-format", "stream-json"},
		free:  []string{"--approval-mode", "yolo"},
		env:   []string{"GOOGLE_GEMINI_BASE_URL={URL}", "GEMINI_API_KEY=fake", "GEMINI_CLI_TRUST_WORKSPACE=true"},
		// With another server it guesses a way to sign in that it then refuses.
		state: map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}},
 "privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false}}
`},
		tools:  map[string]string{"shell": "run_shell_command", "read": "read_file", "write": "write_file", "task": "invoke_agent"},
		hidden: true,
	},
}

// needClients returns the directory where scripts/clients.sh has installed the agents.
func needClients(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("real agents are not run in a short test")
	}
	needPrograms(t, "node", "git")
	dir := clientsDir()
	if dir == "" {
		lacks(t, "the agents are not installed: run scripts/clients.sh")
	}
	return dir
}

var clientsDir = sync.OnceValue(func() string {
	dir := os.Getenv("SBX_TEST_CLIENTS")
	if dir == "" {
		out, err := exec.Command("bash", filepath.Join(moduleDir, "scripts", "clients.sh"), "--where").Output()
		if err != nil {
			return ""
		}
		dir = strings.TrimSpace(string(out))
	}
	if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil {
		return ""
	}
	return dir
})

// eachClient runs a test for every agent, two at once.
func eachClient(t *testing.T, f func(t *testing.T, c *client)) {
	t.Helper()
	needClients(t)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clientSlots <- struct{}{}
			defer func() { <-clientSlots }()
			f(t, c)
		})
	}
}

var clientSlots = make(chan struct{}, 2)

// agentRun is the result of running an agent.
type agentRun struct {
	result
	truth truth
	b     *box
}

// box returns a box with a repository that contains a file, and with a home that no private
// directory covers, if possible: codex refuses one under /tmp.
func (c *client) box(t *testing.T) *box {
	t.Helper()
	b := newBoxElsewhere(t)
	b.write("ws/README.md", "# A project\n")
	git := exec.Command("sh", "-c", "git init -q . && git add -A && git -c user.name=t -c user.email=t@localhost commit -qm start")
	git.Dir, git.Env = b.ws, append(slices.Clone(b.env), "GIT_CONFIG_NOSYSTEM=1")
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git: %v %s", err, out)
	}
	for i, v := range b.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			b.env[i] = "PATH=" + clientsDir() + "/bin:" + path
		}
	}
	return b
}

// plain runs the agent without a sandbox and without its own checks.
func (c *client) plain(t *testing.T, scenario string) agentRun {
	t.Helper()
	b := c.box(t)
	s := c.ready(b, scenario)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, clientsDir()+"/bin/"+c.name, c.argv(t, scenario, c.free...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.ws, b.env, 2*time.Second
	// Without the sandbox nothing else ends processes that an agent leaves running.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	r := agentRun{result: b.finish(cmd), b: b}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	r.truth = s.truth()
	return r
}

// ready starts the scenario's server, and prepares the agent's home and environment for it.
func (c *client) ready(b *box, scenario string) *modelServer {
	b.t.Helper()
	s := b.serve(scenario)
	for name, text := range c.state {
		b.write(filepath.Join("home", name), strings.ReplaceAll(text, "{URL}", s.url))
	}
	for _, v := range c.env {
		b.env = append(b.env, strings.ReplaceAll(v, "{URL}", s.url))
	}
	if c.name == "claude" && isRoot() {
		b.env = append(b.env, "IS_SANDBOX=1") // else root may not switch its checks off
	}
	return s
}

// argv returns the words after the program's name: more, then those for a scenario.
func (c *client) argv(t *testing.T, scenario string, more ...string) []string {
	t.Helper()
	words := slices.Clone(more)
	for _, w := range c.words {
		if w == "PROMPT" {
			w = scenarioPrompt(t, scenario)
		}
		words = append(words, w)
	}
	return words
}

// String returns all that is known about a run, for a failure's message.
func (r agentRun) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%v\nthe server: %d answers", r.result, len(r.truth.Answers))
	for _, c := range r.truth.Calls {
		fmt.Fprintf(&s, "\n  %s: %s of turn %d%s", c.Name, c.Tool, c.Turn, c.Thread)
		if c.Result != nil {
			fmt.Fprintf(&s, ": %q", cut(c.Result.Text))
		} else {
			s.WriteString(": no result")
		}
	}
	if r.rec != nil {
		fmt.Fprintf(&s, "\nagent %v\nviolations %v", r.rec["agent"], r.rec["violations"])
	}
	return s.String()
}
