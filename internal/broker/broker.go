package broker

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sbx/internal/broker/caps"
	"sbx/internal/broker/document"
	"sbx/internal/broker/grant"
	"sbx/internal/broker/policy"
	"sbx/internal/broker/wire"
	"sbx/internal/doc"
	"sbx/internal/sys"
	"sbx/spec"
)

// Broker is one execution's.
type Broker struct {
	start    *wire.Start
	doc      *document.Broker
	plan     *document.Plan // nil for none
	granted  *grant.Granted
	policies map[string]*policy.Policy // by tool
	secrets  map[string]string
	redactor *Redactor
	environ  []string // what a tool's sbx gets, before its secrets
	audit    *audit
	tell     func(wire.Message)
	token    [32]byte // its hash
	until    time.Time
	over     chan struct{} // closed at the end
	slots    chan struct{} // a place for each call that runs
	running  sync.WaitGroup

	mu        sync.Mutex
	failed    string // why no call is allowed any more
	calls     int64
	counts    []wire.Count
	steps     []state
	used      []policy.Used // by rule
	questions []*question
	servers   map[string]*server
}

// maxRunning is how many calls run at once.
const maxRunning = 16

// New makes the broker of an execution, or says why there can be none.
func New(start *wire.Start, environ []string, tell func(wire.Message)) (*Broker, *spec.Problem) {
	b, p := judging(start)
	if p != nil {
		return nil, p
	}
	b.tell, b.over, b.slots, b.servers, b.secrets = tell, make(chan struct{}), make(chan struct{}, maxRunning), map[string]*server{}, map[string]string{}
	sum, err := hex.DecodeString(start.TokenSHA256)
	if err != nil || copy(b.token[:], sum) != len(b.token) || len(sum) != len(b.token) {
		return nil, &spec.Problem{Do: "start the broker", Why: "it was given no hash of a token"}
	}
	b.until = time.Now().Add(b.doc.TokenTTL)
	if p := b.takeSecrets(environ); p != nil {
		return nil, p
	}
	for _, t := range b.doc.Tools {
		if p := b.findProgram(t, environ); p != nil {
			return nil, p
		}
	}
	return b, nil
}

// judging is a broker that decides, and could run nothing.
func judging(start *wire.Start) (*Broker, *spec.Problem) {
	b := &Broker{start: start, policies: map[string]*policy.Policy{}}
	var err error
	if b.doc, err = document.ReadBroker(start.Broker); err != nil {
		return nil, problem(err, "read the Broker document")
	}
	if b.granted, err = grant.New(&start.Granted, start.Workspace); err != nil {
		return nil, problem(err, "have it granted")
	}
	if p := b.readPlan(); p != nil {
		return nil, p
	}
	b.used = make([]policy.Used, len(b.doc.Rules))
	for _, t := range b.doc.Tools {
		b.policies[t.Name] = policy.For(t.Name, b.doc.Rules)
		if err := t.Compile(); err != nil {
			return nil, &spec.Problem{Field: spec.Field("tools." + t.Name + ".args"), On: b.doc.Name, Do: "read the schema", Why: err.Error()}
		}
	}
	return b, nil
}

// Open makes what the broker writes, before which no call is decided.
func (b *Broker) Open() *spec.Problem {
	var err error
	if err = os.Mkdir(filepath.Join(b.start.RunDir, "broker"), 0o700); err == nil {
		b.audit, err = openAudit(b.start.RunDir)
	}
	if err != nil {
		return &spec.Problem{Do: "write the audit of the broker", Why: err.Error()}
	}
	return nil
}

// Ready is what sbx is told of it.
func (b *Broker) Ready() *wire.Ready {
	r := &wire.Ready{BrokerSHA256: b.doc.SHA256, Required: b.doc.Required}
	if b.plan != nil {
		r.PlanSHA256 = b.plan.SHA256
	}
	for _, t := range b.doc.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	return r
}

// readPlan reads the plan, whose tools there must be, and whose capabilities the
// sandbox's spec must give.
func (b *Broker) readPlan() *spec.Problem {
	if b.start.Plan == nil {
		return nil
	}
	var err error
	if b.plan, err = document.ReadPlan(b.start.Plan.Name, b.start.Plan.Text); err != nil {
		return problem(err, "read the plan")
	}
	b.steps = make([]state, len(b.plan.Steps))
	for i := range b.plan.Steps {
		s := &b.plan.Steps[i]
		refuse := func(do, why, help string) *spec.Problem {
			on := doc.Error{Name: b.plan.Name, Pos: s.At}
			return &spec.Problem{Field: "steps", On: on.On(), Do: do, Why: why, Help: help}
		}
		if b.doc.Tool(s.Tool) == nil {
			return refuse("take the step "+s.ID, "there is no tool "+s.Tool+" in "+b.doc.Name, "")
		}
		for _, text := range s.Caps {
			c, _ := caps.Parse(text, b.start.Workspace)
			if !b.granted.Covers(c) {
				reason, with := (&grant.Lack{Cap: c}).Advice()
				return refuse("let the step "+s.ID+" have "+text, reason, with)
			}
		}
		if len(s.Artifacts) > 0 && b.start.Output == "" {
			return refuse("expect artifacts of the step "+s.ID, "the sandbox has no /output", "sbx exec --output DIR")
		}
	}
	return nil
}

// takeSecrets takes the credentials: the caller's variables, and files of the caller's.
func (b *Broker) takeSecrets(environ []string) *spec.Problem {
	var all []string
	for _, s := range b.doc.Secrets {
		refuse := func(why string) *spec.Problem {
			return &spec.Problem{Field: spec.Field("secrets." + s.Name), On: b.doc.Name, Do: "take the secret", Why: why}
		}
		value, from := sys.Variable(environ, s.Env), "the variable "+s.Env
		if s.File != "" {
			file := s.File
			if rest, home := strings.CutPrefix(file, "~/"); home {
				file = filepath.Join(sys.Variable(environ, "HOME"), rest)
			} else if !filepath.IsAbs(file) {
				file = filepath.Join(b.start.Broker.Dir, file)
			}
			text, err := spec.Read(file)
			if err != nil {
				return refuse(err.Error())
			}
			value, from = strings.TrimRight(string(text), "\r\n"), file
		}
		if len(value) < minSecret || strings.IndexByte(value, 0) >= 0 {
			return refuse(from + " has no secret of at least 8 bytes")
		}
		b.secrets[s.Name] = value
		all = append(all, value)
	}
	b.redactor = NewRedactor(all)
	for _, name := range []string{"PATH", "HOME", "LANG", "XDG_STATE_HOME"} {
		if v := sys.Variable(environ, name); v != "" {
			b.environ = append(b.environ, name+"="+v)
		}
	}
	return nil
}

// fail says that no call is allowed any more.
func (b *Broker) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.close(err)
}

// close is fail, of one who has the lock.
func (b *Broker) close(err error) {
	if b.failed == "" {
		b.failed = err.Error()
		go b.tell(&wire.Failed{Why: b.failed})
	}
}

// count counts a call.
func (b *Broker) count(tool string, denied bool) {
	if b.doc.Tool(tool) == nil {
		tool = "" // whose names there may be any number of
	}
	i := 0
	for i < len(b.counts) && b.counts[i].Tool != tool {
		i++
	}
	if i == len(b.counts) {
		b.counts = append(b.counts, wire.Count{Tool: tool})
	}
	b.counts[i].Calls++
	if denied {
		b.counts[i].Denied++
	}
}

// End ends what runs, and sums up.
func (b *Broker) End() *wire.Summary {
	b.mu.Lock()
	if b.failed == "" {
		b.failed = errOver.Error()
	}
	b.mu.Unlock()
	close(b.over)
	b.endServers()
	b.running.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &wire.Summary{ByTool: b.counts, Lines: b.audit.count()}
	for _, c := range b.counts {
		s.Calls += c.Calls
		s.Denied += c.Denied
	}
	return s
}

// problem is an error of a document's.
func problem(err error, do string) *spec.Problem {
	p := spec.AsProblems(err)[0]
	p.Do = do
	return p
}
