package agent

// Keeper says who keeps a promise.
type Keeper uint8

// The keepers.
const (
	ByAgent Keeper = iota + 1
	ByKernel
	ByBoth
)

// String returns the keeper in one word.
func (k Keeper) String() string { return [...]string{"", "agent", "kernel", "both"}[k] }

// Kept is a promise about the agent, who keeps it, and how.
type Kept struct {
	Line string
	By   Keeper
	How  string
	// Servers is true if the promise is about MCP servers of the agent's own configuration.
	Servers bool
}

// Lack is a tool, by Claude's name, that should be withheld or granted, and the reason why the
// agent's command line cannot do so.
type Lack struct {
	Tool, Why string
	// Missing is true if the tool is allowed but not available, so that the agent can do less
	// than the spec says and not more.
	Missing bool
}
