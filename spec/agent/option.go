package agent

// option is a flag of an agent that matters to sbx.
type option struct {
	names []string
	means meaning
	is    string // the value that counts, or that a flag without a value stands for; "" for any
	list  bool   // the value may be several words
	value bool   // it has a value, after "=" or as the next word
}

// meaning is what an option sets.
type meaning uint8

const (
	isBypass   meaning = iota + 1 // no permission checks
	isMode                        // a permission mode, or codex's sandbox mode
	isTools                       // an allow-list of tools
	isStream                      // the format of stdout
	isSettings                    // a file, or JSON, with settings such as permissions
	isServers                     // a file, or JSON, with MCP servers
	isConfig                      // key=value of the configuration
	isFeature                     // a feature to switch
	isStart                       // the directory to start in
	isProfile                     // a named part of the configuration
)

// parser is the library with which an agent parses its command line: each accepts spellings
// of its own.
type parser uint8

const (
	commander parser = iota + 1 // for node; claude's
	clap                        // for Rust; codex's
	yargs                       // for node; gemini's
)
