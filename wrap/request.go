package wrap

// Request has what a Plan is built from besides the spec and the host.
type Request struct {
	Argv    []string
	Program Program // the file that Argv[0] leads to
	Record  string  // where the record will lie, absolute; "" for none
	Counter Counter // the requested one; CounterAuto for the best that works
	// Describe is how many denials are described.
	Describe Describe
	Agent    AgentSeen // the command's agent, and what sbx can see of it
	Sources  []string  // the files that the spec was read from, without links
	// Worker is true if only a worker's file narrows an outer sandbox. Its file rules are then
	// enforced as well as possible.
	Worker bool
	// NoCommand is true if Argv is only a placeholder: the documents are checked for any command.
	NoCommand bool
	// NoRelay says why there is no relay for network.allow and network.listen; "" if there is one.
	NoRelay string
	// AnySocket is true if nothing decides on connects by path.
	AnySocket bool
	Broker    BrokerAsk
	// NewRoot requests a root of the sandbox's own even where the host's would do, for a tool that
	// cannot make the host's root read-only with all mounts under it.
	NewRoot bool
}
