package wire

// Port is where the sandbox's processes find the broker: at their loopback.
const Port = 7276

// The names by which a sandbox's processes find it.
const (
	URLVariable   = "SBX_BROKER_URL"   // http://127.0.0.1:7276, or unix: and the path of a socket
	TokenVariable = "SBX_BROKER_TOKEN" // 32 random bytes as base64url without padding: 43 characters
	TokenFile     = "/run/sbx/broker-token"
	SocketFile    = "/run/sbx/broker.sock" // where there is no network namespace
)

// AuditFile and SocketName are what the broker makes in Start.RunDir.
const (
	AuditFile  = "broker.jsonl"
	SocketName = "broker.sock" // at which "sbx-broker answer" finds it
)

// Max is the longest line in bytes.
const Max = 4 << 20

// Document is a document as it was read.
type Document struct {
	Name string // as given, for messages
	Dir  string // the absolute folder that its paths count from
	Text []byte
}

// Place is a path of the sandbox at which another access begins than above it.
type Place struct {
	Path      string
	Access    string // absent, hidden, read-only or writable: view.Access
	Source    string // of the host; "" where what is there is the sandbox's own, or a copy
	Protected bool   // only a rule about names keeps it from being written
}

// Granted is what the sandbox's own spec gives, from its View and Reach.
type Granted struct {
	View     []Place  // a folder before what is in it
	Trees    []string // the host's folders in which protected names must not come into being
	Reach    []string // the rules of network.allow as written out; "*" alone for every host
	Any      bool     // any program may be started
	Programs []string // those that may, where not any
	Caps     []string // broker.grant
}

// Start is the first message: what the broker is to decide by.
type Start struct {
	Execution   string // the run's id
	TokenSHA256 string // 64 hexadecimal digits: of the token as the sandbox has it
	Workspace   string // where the command starts, as the sandbox names it
	RunDir      string // the folder of the record, 0700: for what the broker writes
	Output      string // the host's folder that is /output inside; "" for none
	SBX         string // the program sbx
	Broker      Document
	Plan        *Document // nil for none
	Granted     Granted
}

// Sockets are the listening sockets of the sandbox, as descriptors beside: each "tcp" or
// "unix".
type Sockets struct{ Kinds []string }

// End says that nothing of the sandbox is left.
type End struct{}

// Ready is the answer to a Start that can be decided by.
type Ready struct {
	BrokerSHA256, PlanSHA256 string // of the documents' canonical form; "" without a plan
	Required                 bool   // the run ends where the broker does
	Tools                    []string
}

// Refused is the answer to any other: a spec.Problem, by which nothing starts.
type Refused struct{ Field, On, Do, Why, Help string }

// Call is a call that was decided.
type Call struct {
	ID, At, Tool, Step string
	Verdict            string // allow, deny or error: what was allowed did not come about
	Rule, Reason       string
	AllowWith          string
}

// Ask is a question for a person: "sbx-broker answer ID yes" allows.
type Ask struct{ ID, Tool, Reason string }

// Failed says that no call is allowed any more, and why.
type Failed struct{ Why string }

// Count is what became of a tool's calls.
type Count struct {
	Tool          string
	Calls, Denied int64
}

// Summary is the last message.
type Summary struct {
	Calls, Denied int64
	ByTool        []Count
	Lines         int64 // of the audit
}

func (*Start) kind() string   { return "start" }
func (*Sockets) kind() string { return "sockets" }
func (*End) kind() string     { return "end" }
func (*Ready) kind() string   { return "ready" }
func (*Refused) kind() string { return "refused" }
func (*Call) kind() string    { return "call" }
func (*Ask) kind() string     { return "ask" }
func (*Failed) kind() string  { return "failed" }
func (*Summary) kind() string { return "summary" }
