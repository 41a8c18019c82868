package wrap

// Request is what a Plan is built for besides the spec.
type Request struct {
	Argv    []string
	Program Program // what Argv[0] leads to
	Record  string  // where the record will lie, absolute; "" for none
	Counter Counter // which is asked for, CounterAuto for the best there is
	// Describe is how much of what is refused is to be described.
	Describe Describe
	Agent    AgentSeen // what the command's agent is, and what of it can be seen
	Sources  []string  // the files that made the spec, links resolved
	// Worker tells that nothing but a worker's file narrows an outer sandbox: its files
	// are held as far as they can be there.
	Worker bool
	// NoCommand tells that Argv only stands for one: the documents are judged, for
	// whatever command they are good for.
	NoCommand bool
	// NoRelay is why there is no relay for network.allow and network.listen; "" where there is one.
	NoRelay string
	// AnySocket tells that nobody decides on connects by path.
	AnySocket bool
	Broker    BrokerAsk
	// NewRoot asks for a root of the sandbox's own where the host's would do, for who
	// cannot make that read-only with all that is mounted under.
	NewRoot bool
}
