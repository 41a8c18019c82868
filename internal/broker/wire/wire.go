package wire

// Port is where the sandbox's processes reach the broker, at their loopback.
const Port = 7276

// The names by which a sandbox's processes find the broker.
const (
	URLVariable   = "SBX_BROKER_URL"   // http://127.0.0.1:7276, or unix: and the path of a socket
	TokenVariable = "SBX_BROKER_TOKEN" // 32 random bytes as base64url without padding: 43 characters
	TokenFile     = "/run/sbx/broker-token"
	SocketFile    = "/run/sbx/broker.sock" // if there is no network namespace
)

// AuditFile and SocketName are files that the broker creates in Start.RunDir.
const (
	AuditFile  = "broker.jsonl"
	SocketName = "broker.sock" // the socket for "sbx-broker answer"
)

// Max is the length limit of a line in bytes.
const Max = 4 << 20

// Document is the text of a document, as it was read.
type Document struct {
	Name string // the path as given, for messages
	Dir  string // the absolute directory to which its paths are relative
	Text []byte
}

// Place is a path of the sandbox at which the access changes.
type Place struct {
	Path      string
	Access    string // absent, hidden, read-only or writable: view.Access
	Source    string // the path on the host; "" if the files are the sandbox's own, or a copy
	Protected bool   // read-only only because of a rule about names
}

// Granted is what the sandbox's own spec grants, from its View and Reach.
type Granted struct {
	View     []Place  // a directory comes before the paths in it
	Trees    []string // the host's directories in which protected names must not be created
	Reach    []string // the rules of network.allow, expanded; only "*" for every host
	Any      bool     // any program may be executed
	Programs []string // the programs that may be executed, unless Any
	Caps     []string // broker.grant
}

// Start is the first message. It has everything by which the broker decides.
type Start struct {
	Execution   string // the run's id
	TokenSHA256 string // 64 hexadecimal digits: the hash of the token that the sandbox has
	Workspace   string // the working directory of the command, inside
	RunDir      string // the directory of the record, mode 0700; the broker's files go there
	Output      string // the host's directory that is /output inside; "" for none
	SBX         string // the path of the program sbx
	Broker      Document
	Plan        *Document // nil for none
	Granted     Granted
}

// Sockets comes with the listening sockets of the sandbox as descriptors. A kind is "tcp"
// or "unix".
type Sockets struct{ Kinds []string }

// End says that no process of the sandbox is left.
type End struct{}

// Ready answers a Start whose documents are valid.
type Ready struct {
	BrokerSHA256, PlanSHA256 string // digests of the documents' canonical form; "" without a plan
	Required                 bool   // the run ends if the broker ends
	Tools                    []string
}

// Refused answers any other Start with a spec.Problem; the command does not start.
type Refused struct{ Field, On, Do, Why, Help string }

// Call is a decided call.
type Call struct {
	ID, At, Tool, Step string
	Verdict            string // allow, deny, or error: an allowed call failed
	Rule, Reason       string
	AllowWith          string
}

// Ask is a question for a person; "sbx-broker answer ID yes" allows the call.
type Ask struct{ ID, Tool, Reason string }

// Failed says that the broker denies all further calls, and why.
type Failed struct{ Why string }

// Count has the numbers of a tool's calls.
type Count struct {
	Tool          string
	Calls, Denied int64
}

// Summary is the last message.
type Summary struct {
	Calls, Denied int64
	ByTool        []Count
	Lines         int64 // lines of the audit
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
