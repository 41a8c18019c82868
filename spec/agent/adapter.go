package agent

import (
	"slices"

	"sbx/spec"
)

// Ask is what an agent's command line is to say.
type Ask struct {
	Allowed spec.Opt[[]string]  // Claude's names and patterns; absent: every tool
	Denied  []string            // the same; denied wins
	Only    spec.Opt[[]string]  // claude's names; what the caller leaves of the allowed
	Mode    spec.PermissionMode // 0: the agent's own default
	Access  spec.AccessMode     // what the kernel lets the agent's tools write,
	Writes  []string            // and what beside: a read-only project's documents
	Folders []string            // absolute; what the agent works in beside its current directory
	Servers *Servers            // of MCP, that the agent gets by itself; nil where nobody looked

	Broker Broker // that runs tools for the agent

	// Inside tells that the agent runs under sbx, where its own sandbox could
	// not start and the kernel keeps what that would.
	Inside bool
	// PolicyFile is where the caller puts what Policy returns; "" for nowhere.
	PolicyFile string
}

// Keeper is who holds a line.
type Keeper uint8

// The keepers.
const (
	ByAgent Keeper = iota + 1
	ByKernel
	ByBoth
)

// String is the keeper in a word.
func (k Keeper) String() string { return [...]string{"", "agent", "kernel", "both"}[k] }

// Kept is one promise, who keeps it, and how.
type Kept struct {
	Line string
	By   Keeper
	How  string
	// Servers tells that it is about MCP servers that the agent gets by itself.
	Servers bool
}

// Lack is a tool, in Claude's words, that was to be withheld or granted, and
// why the agent's command line cannot say so.
type Lack struct {
	Tool, Why string
	// Missing tells that the tool may be used and is not there: nothing of what the
	// agent is to keep from is open.
	Missing bool
}

// adapter is what sbx knows of one agent's command line.
type adapter struct {
	agent  spec.Agent
	flags  func(*answer, Ask)
	bypass []string // every permission check off
	policy func(Ask) string
	pass   []string // its own key and base-URL variables, which look like credentials
	models string   // the set of its model's hosts
	bases  []string // variables whose URLs stand in their place
	clouds []cloud  // and who offers its model beside its maker
	home   string   // the variable that moves state
	state  string   // and what it moves
	needs  []need

	starts string // how many programs it starts of its own in a small task
	// aside are programs, by their files' names, that connect before the agent
	// itself does and bring it no answer of its model's.
	aside []string

	npm       string   // its package
	installed []string // parts of the path that its program lies at

	parser        parser   // who reads its command line
	options       []option // its flags that mean something to sbx
	bypassModes   []string // permission modes that turn every check off
	writingModes  []string // those that write the project
	enforcesTools bool     // an allow-list holds with every check off, too
	// replaced tells that its checks are a sandbox of its own, in whose place
	// sbx's stands: turning it off asks for nothing more.
	replaced bool
	// streams tells whether its arguments make a stream at all; nil for always.
	streams func(args []string) bool
}

var adapters = []*adapter{&claude, &codex, &gemini}

func find(a spec.Agent) *adapter {
	for _, ad := range adapters {
		if ad.agent == a {
			return ad
		}
	}
	return nil
}

// Starts is how many programs an agent starts of its own in a small task, in
// words; "" for one that nobody knows.
func Starts(a spec.Agent) string {
	if ad := find(a); ad != nil {
		return ad.starts
	}
	return ""
}

// Aside are the programs of an agent's, by their files' names, whose connecting
// asks no model.
func Aside(a spec.Agent) []string {
	if ad := find(a); ad != nil {
		return slices.Clone(ad.aside)
	}
	return nil
}

// Replaces tells whether sbx's sandbox stands in the place of the agent's own.
func Replaces(a spec.Agent) bool {
	ad := find(a)
	return ad != nil && ad.replaced
}

// Flags are an agent's flags for what is asked: the arguments to put right
// after its program's name, what is kept by them, and what is not. An agent
// that nobody knows has none and keeps nothing.
func Flags(a spec.Agent, ask Ask) (args []string, kept []Kept, lacking []Lack) {
	ad := find(a)
	if ad == nil {
		return nil, nil, nil
	}
	ask, unknown := ask.withBroker().spelled(a)
	w := answer{agent: a, ask: ask, lacking: unknown}
	ad.flags(&w, ask)
	return w.args, w.kept, w.lacking
}

// Bypass are the flags that turn an agent's permission checks off.
func Bypass(a spec.Agent) []string {
	if ad := find(a); ad != nil {
		return slices.Clone(ad.bypass)
	}
	return nil
}

// Policy is the text of the file that Ask.PolicyFile names; "" for an agent
// that reads none.
func Policy(a spec.Agent, ask Ask) string {
	ask, _ = ask.withBroker().spelled(a)
	if ad := find(a); ad != nil && ad.policy != nil && (ask.Allowed.Set || len(ask.Denied) > 0) {
		return ad.policy(ask)
	}
	return ""
}
