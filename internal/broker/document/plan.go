package document

import (
	"strconv"
	"strings"

	"sbx/internal/broker/caps"
	"sbx/internal/doc"
)

// Plan is a list of steps that an execution is to take, in their order or in any.
type Plan struct {
	Name    string
	SHA256  string
	Ordered bool
	Steps   []Step
}

// AnyCall reports whether every call is acceptable: there is no plan, or a free one
// without steps.
func (p *Plan) AnyCall() bool { return p == nil || !p.Ordered && len(p.Steps) == 0 }

// Step is one call of a plan.
type Step struct {
	ID        string
	Tool      string
	Args      *doc.Node // nil for any arguments, in mode free
	Caps      []string  // requested_caps as written; without that list the call may choose
	HasCaps   bool
	Artifacts []Artifact
	At        doc.Pos
}

// Artifact is a file that a step is to make.
type Artifact struct {
	Path     string // a path in /output
	Min, Max int64  // bytes
	SHA256   string // "" for any content
}

// ReadPlan reads a Plan. The error is a *doc.Error.
func ReadPlan(name string, text []byte) (*Plan, error) {
	root, digest, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	r, p, mode := &reader{name: name}, &Plan{Name: name, SHA256: digest}, ""
	r.object(root, "", fields{
		"version": r.version,
		"mode":    r.oneOf(&mode, "ordered", "free"),
		"steps": func(n *doc.Node, at string) {
			r.each(n, at, func(n *doc.Node, at string) { p.Steps = append(p.Steps, r.step(n, at)) })
		},
	}, "version", "mode", "steps")
	p.Ordered = mode == "ordered"
	seen := map[string]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		at := root.Get("steps").Items[i]
		if seen[s.ID] {
			r.fail(at, "steps", "the id "+s.ID+" is there twice", "")
		}
		if seen[s.ID] = true; p.Ordered && s.Args == nil {
			r.fail(at, "steps", "a step of an ordered plan has tool_args", "tool_args: {} for none")
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return p, nil
}

func (r *reader) step(n *doc.Node, at string) (s Step) {
	s.At = n.Pos
	known := r.asks(&s.Args, &s.Caps, &s.HasCaps, &s.Artifacts)
	known["id"], known["tool_name"] = r.id(&s.ID), r.id(&s.Tool)
	r.object(n, at, known, "id", "tool_name")
	return s
}

// asks reads the members that a step and a call have in common.
func (r *reader) asks(args **doc.Node, caps *[]string, has *bool, artifacts *[]Artifact) fields {
	return fields{
		"tool_args": r.args(args),
		"requested_caps": func(n *doc.Node, at string) {
			*has, *caps = true, r.caps(n, at)
		},
		"expected_artifacts": func(n *doc.Node, at string) { *artifacts = r.artifacts(n, at) },
	}
}

// args reads the arguments of a call. It rejects a NUL, which no program's argument can
// contain.
func (r *reader) args(to **doc.Node) func(*doc.Node, string) {
	return func(n *doc.Node, at string) {
		if r.want(n, at, doc.Object) {
			*to = n
			r.noNUL(n, at)
		}
	}
}

func (r *reader) noNUL(n *doc.Node, at string) {
	if n.Kind == doc.String && strings.IndexByte(n.Text, 0) >= 0 {
		r.fail(n, at, "there is a NUL in it", "")
	}
	for i, item := range n.Items {
		r.noNUL(item, at+"["+strconv.Itoa(i)+"]")
	}
	for _, m := range n.Members {
		if strings.IndexByte(m.Key, 0) >= 0 {
			r.fail(n, at, "there is a NUL in a key", "")
		}
		r.noNUL(m.Value, doc.Join(at, m.Key))
	}
}

// ReadArgs reads the arguments of a call by themselves. The error is a *doc.Error.
func ReadArgs(text []byte) (args *doc.Node, err error) {
	root := &doc.Node{Kind: doc.Object}
	if len(text) > 0 {
		if root, err = doc.ParseJSON("arguments", text); err != nil {
			return nil, err
		}
	}
	r := &reader{name: "arguments"}
	if r.args(&args)(root, ""); r.err != nil {
		return nil, r.err
	}
	return args, nil
}

// caps reads a list of capabilities and checks their syntax.
func (r *reader) caps(n *doc.Node, at string) (list []string) {
	r.texts(&list)(n, at)
	for i, text := range list {
		if _, why := caps.Parse(text, "/"); why != "" {
			r.fail(n.Items[i], at, "no capability: "+why, "")
		}
	}
	return list
}

// artifacts reads expected_artifacts.
func (r *reader) artifacts(n *doc.Node, at string) (list []Artifact) {
	r.each(n, at, func(n *doc.Node, at string) {
		a := Artifact{Max: 1<<53 - 1}
		r.object(n, at, fields{
			"path": func(n *doc.Node, at string) {
				if r.text(&a.Path)(n, at); r.err != nil {
					return
				}
				clean, why := caps.Clean(n.Text, "/output")
				if a.Path = clean; why != "" || len(clean) <= len("/output/") || clean[:len("/output/")] != "/output/" {
					r.fail(n, at, "want the path of a file under /output", "")
				}
			},
			"min_size": r.size(&a.Min), "max_size": r.size(&a.Max), "sha256": r.digest(&a.SHA256),
		}, "path")
		list = append(list, a)
	})
	return list
}

// Call is a call as the caller sent it.
type Call struct {
	Tool      string
	Args      *doc.Node // an object
	Caps      []string
	HasCaps   bool
	Artifacts []Artifact
}

// ReadCall reads the body of a call. The error is a *doc.Error.
func ReadCall(body []byte) (*Call, error) {
	root, err := doc.ParseJSON("body", body)
	if err != nil {
		return nil, err
	}
	r, c := &reader{name: "body"}, &Call{Args: &doc.Node{Kind: doc.Object}}
	known := r.asks(&c.Args, &c.Caps, &c.HasCaps, &c.Artifacts)
	known["tool_name"] = r.word(&c.Tool)
	r.object(root, "", known, "tool_name")
	if r.err != nil {
		return nil, r.err
	}
	return c, nil
}
