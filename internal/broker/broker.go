package broker

import (
	"cmp"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sbx/internal/broker/document"
	"sbx/internal/broker/wire"
	"sbx/internal/sys"
	"sbx/spec"
)

// Broker decides and carries out the calls of one execution's tools.
type Broker struct {
	*decider
	executor  *executor
	questions *questions
	redactor  *Redactor
	audit     *audit
	tell      func(wire.Message)
	token     [32]byte // the token's hash
	until     time.Time
	over      chan struct{} // closed at the end of the execution

	mu sync.Mutex // guards the following fields and the decider
	progress
}

// progress is the state of an execution.
type progress struct {
	failed string // why no further call is allowed
	calls  int64
	counts []wire.Count
}

// New makes the broker of an execution, or returns the problem for which it refuses to.
func New(start *wire.Start, environ []string, tell func(wire.Message)) (*Broker, *spec.Problem) {
	d, p := newDecider(start)
	if p != nil {
		return nil, p
	}
	b := &Broker{decider: d, tell: tell, over: make(chan struct{}), until: time.Now().Add(d.doc.TokenTTL)}
	sum, err := hex.DecodeString(start.TokenSHA256)
	if err != nil || copy(b.token[:], sum) != len(b.token) || len(sum) != len(b.token) {
		return nil, &spec.Problem{Do: "start the broker", Why: "it was given no hash of a token"}
	}
	secrets, p := b.takeSecrets(environ)
	if p != nil {
		return nil, p
	}
	search := b.search(sys.Variable(environ, "PATH"))
	b.questions = &questions{timeout: b.doc.AskTimeout, over: b.over, tell: tell, redactor: b.redactor}
	b.executor = &executor{walls: b.walls, secrets: secrets, redactor: b.redactor, environ: inherited(environ, search), open: b.open, over: b.over,
		slots: make(chan struct{}, maxRunning), servers: map[string]*server{}}
	if at := b.writablePart(start.SBX); at != "" {
		return nil, &spec.Problem{Do: "run tools by " + start.SBX, Why: "the sandbox can write " + at + ", by which it is reached", Help: "install sbx where the sandbox writes nothing"}
	}
	for _, t := range b.doc.Tools {
		if p := cmp.Or(b.checkSpecFile(t), b.findProgram(t, search)); p != nil {
			return nil, p
		}
	}
	if p := b.fits(environ); p != nil {
		return nil, p
	}
	return b, nil
}

// Open creates the broker's files. No call is decided before.
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

// Ready returns the message to sbx that the broker is ready.
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

// takeSecrets reads the credentials from the caller's variables and files.
func (b *Broker) takeSecrets(environ []string) (map[string]string, *spec.Problem) {
	secrets, all := map[string]string{}, []string(nil)
	for _, s := range b.doc.Secrets {
		refuse := func(why string) (map[string]string, *spec.Problem) {
			return nil, &spec.Problem{Field: spec.Field("secrets." + s.Name), On: b.doc.Name, Do: "take the secret", Why: why}
		}
		value, from := sys.Variable(environ, s.Env), "the variable "+s.Env
		if s.File != "" {
			file := s.File
			if rest, home := strings.CutPrefix(file, "~/"); home {
				file = filepath.Join(sys.Variable(environ, "HOME"), rest)
			} else if !filepath.IsAbs(file) {
				file = filepath.Join(b.start.Broker.Dir, file)
			}
			if p := b.checkSecretFile(s.Name, file); p != nil {
				return nil, p
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
		if len(value) > maxSecret {
			return refuse(from + " has more than 64 KiB, and no credential")
		}
		secrets[s.Name] = value
		all = append(all, value)
	}
	b.redactor = NewRedactor(all)
	return secrets, nil
}

// inherited returns those of the broker's variables that the sbx of a tool gets.
func inherited(environ []string, search string) (all []string) {
	if search != "" {
		all = append(all, "PATH="+search)
	}
	for _, name := range []string{"HOME", "LANG", "XDG_STATE_HOME"} {
		if v := sys.Variable(environ, name); v != "" {
			all = append(all, name+"="+v)
		}
	}
	return all
}

// open reports whether calls may still be started.
func (b *Broker) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed == ""
}

// fail denies all further calls.
func (b *Broker) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.close(err)
}

// close does the same for a caller that holds the lock.
func (b *Broker) close(err error) {
	if b.failed == "" {
		b.failed = err.Error()
		go b.tell(&wire.Failed{Why: b.failed})
	}
}

// count counts a call.
func (b *Broker) count(tool string, denied bool) {
	if b.doc.Tool(tool) == nil {
		tool = "" // callers may invent any number of names
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

// End ends all running tools and returns the summary.
func (b *Broker) End() *wire.Summary {
	b.mu.Lock()
	if b.failed == "" {
		b.failed = errOver.Error()
	}
	b.mu.Unlock()
	close(b.over)
	b.executor.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &wire.Summary{ByTool: b.counts, Lines: b.audit.count()}
	for _, c := range b.counts {
		s.Calls += c.Calls
		s.Denied += c.Denied
	}
	return s
}

// PossibleTools returns the tools of which some call may still be allowed.
func (b *Broker) PossibleTools() (all []*document.Tool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.doc.Tools {
		if b.failed == "" && b.calls < b.doc.MaxCalls && b.planned(t.Name) && b.neverAllowed(t) == nil {
			all = append(all, t)
		}
	}
	return all
}
