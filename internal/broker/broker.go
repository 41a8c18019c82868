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

// Broker is one execution's.
type Broker struct {
	*decider
	executor  *executor
	questions *questions
	redactor  *Redactor
	audit     *audit
	tell      func(wire.Message)
	token     [32]byte // its hash
	until     time.Time
	over      chan struct{} // closed at the end

	mu sync.Mutex // of what follows, and of the decider
	progress
}

// progress is how far an execution is.
type progress struct {
	failed string // why no call is allowed any more
	calls  int64
	counts []wire.Count
}

// New makes the broker of an execution, or says why there can be none.
func New(start *wire.Start, environ []string, tell func(wire.Message)) (*Broker, *spec.Problem) {
	d, p := judging(start)
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
	if at := b.foreign(start.SBX); at != "" {
		return nil, &spec.Problem{Do: "run tools by " + start.SBX, Why: "the sandbox can write " + at + ", by which it is reached", Help: "install sbx where the sandbox writes nothing"}
	}
	for _, t := range b.doc.Tools {
		if p := cmp.Or(b.holdsSpec(t), b.findProgram(t, search)); p != nil {
			return nil, p
		}
	}
	if p := b.fits(environ); p != nil {
		return nil, p
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

// takeSecrets takes the credentials: the caller's variables, and files of the caller's.
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
			if p := b.keeps(s.Name, file); p != nil {
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

// inherited is what a tool's sbx gets of the broker's variables.
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

// open tells whether anything may still be started.
func (b *Broker) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed == ""
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

// Could are the tools of which some call might be allowed.
func (b *Broker) Could() (all []*document.Tool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.doc.Tools {
		if b.failed == "" && b.calls < b.doc.MaxCalls && b.planned(t.Name) && b.never(t) == nil {
			all = append(all, t)
		}
	}
	return all
}
