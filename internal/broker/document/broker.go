package document

import (
	"slices"
	"strconv"
	"time"

	"sbx/internal/broker/policy"
	"sbx/internal/broker/wire"
	"sbx/internal/doc"
)

// The defaults of a document.
const (
	tokenTTL   = time.Hour
	askTimeout = 2 * time.Minute
	maxCalls   = 1000
)

// Broker is the content of a Broker document.
type Broker struct {
	Name       string
	SHA256     string
	TokenTTL   time.Duration
	AskTimeout time.Duration
	Required   bool
	MaxCalls   int64
	Secrets    []Secret
	Tools      []*Tool
	Rules      []policy.Rule
}

// Secret is a credential that the broker has and the sandbox does not: the value of a
// variable of the caller, or the content of a file.
type Secret struct{ Name, Env, File string }

// ReadBroker reads a Broker document and the specs of its tools. The error is a
// *doc.Error.
func ReadBroker(d wire.Document) (*Broker, error) {
	root, digest, err := parse(d.Name, d.Text)
	if err != nil {
		return nil, err
	}
	r := &reader{name: d.Name}
	b := &Broker{Name: d.Name, SHA256: digest, TokenTTL: tokenTTL, AskTimeout: askTimeout, MaxCalls: maxCalls}
	r.object(root, "", fields{
		"version":     r.version,
		"token_ttl":   r.duration(&b.TokenTTL),
		"ask_timeout": r.duration(&b.AskTimeout),
		"required":    r.flag(&b.Required),
		"max_calls":   r.whole(&b.MaxCalls, 1),
		"secrets": func(n *doc.Node, at string) {
			r.named(n, at, func(n *doc.Node, at, name string) { r.secret(b, n, at, name) })
		},
		"tools": func(n *doc.Node, at string) {
			r.named(n, at, func(n *doc.Node, at, name string) { b.Tools = append(b.Tools, r.tool(n, at, name, d.Dir)) })
		},
		"rules": func(n *doc.Node, at string) { r.each(n, at, func(n *doc.Node, at string) { r.rule(b, n, at) }) },
	}, "version", "tools")
	if r.err == nil {
		r.acrossFields(b, root)
	}
	if r.err != nil {
		return nil, r.err
	}
	return b, nil
}

// Tool returns the tool with a name; nil if there is none.
func (b *Broker) Tool(name string) *Tool {
	for _, t := range b.Tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (r *reader) secret(b *Broker, n *doc.Node, at, name string) {
	s := Secret{Name: name}
	r.object(n, at, fields{"env": r.word(&s.Env), "file": r.word(&s.File)})
	if (s.Env == "") == (s.File == "") {
		r.fail(n, at, "want env or file", "{env: NAME} is a variable of yours, {file: PATH} what a file holds")
	}
	b.Secrets = append(b.Secrets, s)
}

// rule reads a rule. acrossFields checks its tools and arguments.
func (r *reader) rule(b *Broker, n *doc.Node, at string) {
	rule := policy.Rule{ID: at}
	var verdict string
	r.object(n, at, fields{
		"id": r.id(&rule.ID), "tool": r.word(&rule.Tool), "reason": r.text(&rule.Reason), "max_calls": r.whole(&rule.MaxCalls, 1), "max_bytes": r.size(&rule.MaxBytes),
		"verdict": r.oneOf(&verdict, "allow", "deny", "ask"),
		"when": func(n *doc.Node, at string) {
			if !r.want(n, at, doc.Object) {
				return
			}
			for _, m := range n.Members {
				c := policy.Condition{Arg: m.Key}
				r.object(m.Value, doc.Join(at, m.Key), fields{
					"equals": func(n *doc.Node, at string) { c.Equals = n },
					"prefix": r.word(&c.Prefix), "glob": r.word(&c.Glob), "min": r.number(&c.Min), "max": r.number(&c.Max),
				})
				if len(m.Value.Members) == 0 {
					r.fail(m.Value, doc.Join(at, m.Key), "want equals, prefix, glob, min or max", "")
				}
				rule.When = append(rule.When, c)
			}
		},
	}, "tool", "verdict")
	if rule.Effect, _ = policy.ParseEffect(verdict); rule.Effect == policy.Deny && (rule.MaxCalls > 0 || rule.MaxBytes > 0) {
		r.fail(n, at, "what is denied has no max_calls and no max_bytes", "")
	}
	b.Rules = append(b.Rules, rule)
}

// acrossFields checks references between fields: a rule that denies and applies to no tool
// would deny nothing.
func (r *reader) acrossFields(b *Broker, root *doc.Node) {
	ids := map[string]bool{}
	for i := range b.Rules {
		rule := &b.Rules[i]
		n, at := root.Get("rules").Items[i], "rules["+strconv.Itoa(i)+"]"
		if ids[rule.ID] {
			r.fail(n, at, "the id "+rule.ID+" is there twice", "")
		}
		ids[rule.ID] = true
		matched := false
		for _, t := range b.Tools {
			if !rule.About(t.Name) {
				continue
			}
			matched = matched || !slices.ContainsFunc(rule.When, func(c policy.Condition) bool { return t.Args.Get("properties").Get(c.Arg) == nil })
		}
		if !matched {
			r.fail(n, at, "there is no tool "+doc.Quote(doc.Cut(rule.Tool))+" with the arguments in when", "")
		}
	}
	for _, t := range b.Tools {
		for _, name := range t.Secrets {
			if !slices.ContainsFunc(b.Secrets, func(s Secret) bool { return s.Name == name }) {
				at := doc.Join("tools", t.Name) + ".secrets"
				r.fail(root.Get("tools").Get(t.Name).Get("secrets"), at, doc.Quote(doc.Cut(name))+" is not among the document's secrets", "")
			}
		}
	}
}
