package broker

import (
	"bytes"
	"strconv"
	"strings"

	"sbx/internal/broker/caps"
	"sbx/internal/broker/document"
	"sbx/internal/broker/policy"
	"sbx/internal/doc"
	"sbx/internal/view"
)

// request is what a call is decided by: the broker's own state. Of what the caller says
// there is in it which tool and which arguments it wants, and where no step of a plan
// says so, what the call may use and make, by which it can only narrow itself.
type request struct {
	tool      *document.Tool
	step      int       // of the plan; -1 for none
	args      *doc.Node // with the paths absolute and clean
	argv      []string  // of a program
	stdin     string    // of a program
	workspace string
	needed    []caps.Cap
	requested []caps.Cap
	artifacts []document.Artifact
}

// state is what became of a step.
type state uint8

const (
	todo state = iota
	running
	done
	failed // it may be tried again
)

// denial is why a call is denied, before any rule is asked.
type denial struct {
	kind               Kind
	rule, reason, with string
}

// rebuild makes the request of a call, but for its step.
func (d *decider) rebuild(call *document.Call) (*request, *denial) {
	tool := d.doc.Tool(call.Tool)
	if tool == nil {
		return nil, &denial{NoTool, "tools", "there is no tool of this name", ""}
	}
	r := &request{tool: tool, step: -1, workspace: d.start.Workspace}
	if why := tool.Check(call.Args); why != "" {
		return r, &denial{BadArgs, "args", why, ""}
	}
	var why string
	if r.args, why = tool.Normal(call.Args, d.start.Workspace); why == "" {
		if r.needed, why = tool.Needed(r.args); why == "" {
			r.argv, r.stdin, why = program(tool, r.args)
		}
	}
	if why != "" {
		return r, &denial{BadArgs, "args", why, ""}
	}
	return r, nil
}

// program is the command line of a tool that is one. An argument that begins with - and
// would be taken for an option is refused.
func program(t *document.Tool, args *doc.Node) (argv []string, stdin, why string) {
	for _, part := range t.Run {
		for _, word := range part.Fill(args) {
			if strings.HasPrefix(word, "-") && part.Begins() && !t.Dash {
				return nil, "", "/" + part.Args()[0] + ": it begins with - and would be an option of the program (dash: true in the tool lets it)"
			}
			argv = append(argv, word)
		}
	}
	return argv, strings.Join(t.Stdin.Fill(args), "\n"), ""
}

// steps are those that a call may be, of which one is next; -1 for none of a plan.
func (d *decider) candidates(call *document.Call) ([]int, *denial) {
	if d.plan.AnyCall() {
		return []int{-1}, nil
	}
	args := call.Args.AppendCanonical(nil)
	matches := func(s *document.Step) bool {
		return s.Tool == call.Tool && (s.Args == nil || bytes.Equal(s.Args.AppendCanonical(nil), args))
	}
	var all []int
	past := ""
	for i := range d.plan.Steps {
		s := &d.plan.Steps[i]
		state := d.steps[i]
		if d.plan.Ordered && state == done {
			if matches(s) {
				past = s.ID
			}
			continue
		}
		if matches(s) {
			if d.plan.Ordered && state == running {
				return nil, &denial{Forbidden, "plan", "the step " + s.ID + " is running", ""}
			}
			all = append(all, i)
		}
		if d.plan.Ordered && len(all) == 0 {
			return nil, &denial{Forbidden, "plan", orDone("the plan's next step is "+s.ID, past), "steps: " + s.ID + " first"}
		}
		if d.plan.Ordered {
			return all, nil
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, &denial{Forbidden, "plan", orDone("the plan has no such step", past), "steps: {id: NAME, tool_name: " + doc.Quote(call.Tool) + "}"}
}

// orDone says that the step was done already, where one like the call was.
func orDone(reason, past string) string {
	if past != "" {
		return "the step " + past + " is done already; " + reason
	}
	return reason
}

// judge asks both engines about the request as the step i, and fills in what the step
// says.
func (d *decider) judge(r *request, call *document.Call, i int) (policy.Decision, *denial) {
	r.step, r.requested, r.artifacts = i, r.needed, call.Artifacts
	asked, has := call.Caps, call.HasCaps
	if i >= 0 && d.plan.Steps[i].HasCaps {
		asked, has = d.plan.Steps[i].Caps, true
	}
	if has {
		r.requested = nil
		for _, text := range asked {
			c, why := caps.Parse(text, d.start.Workspace)
			if why != "" {
				return policy.Decision{}, &denial{BadArgs, "args", text + " is not a capability: " + why, ""}
			}
			r.requested = append(r.requested, c)
		}
	}
	if i >= 0 {
		r.artifacts = d.plan.Steps[i].Artifacts
	}
	if no := d.lacks(r.needed, r.requested); no != nil {
		return policy.Decision{}, no
	}
	if len(r.artifacts) > 0 && d.start.Output == "" {
		return policy.Decision{}, &denial{Forbidden, "artifacts", "the sandbox has no /output", "sbx exec --output DIR"}
	}
	return d.policies[r.tool.Name].Decide(r.argument, d.used), nil
}

// lacks is why the sandbox does not give what a call needs; nil where it does.
func (d *decider) lacks(needed, requested []caps.Cap) *denial {
	lack := d.granted.Check(needed, requested)
	if lack == nil {
		return nil
	}
	reason, with := lack.Advice()
	return &denial{Forbidden, "capabilities", reason, with}
}

// never is why no call of a tool can be allowed; nil where that depends on its arguments.
func (d *decider) never(t *document.Tool) *denial {
	fixed := t.Fixed()
	no := d.lacks(fixed, fixed)
	if no == nil && !d.policies[t.Name].Could(d.used) {
		no = &denial{Forbidden, "rules", "no rule allows it", "rules: {tool: " + doc.Quote(t.Name) + ", verdict: allow}"}
	}
	return no
}

// argument is an argument as rules see it: of a path what leads there from the
// workspace, or the whole of it where it lies elsewhere.
func (r *request) argument(name string) *doc.Node {
	n := r.args.Get(name)
	if n == nil || !r.tool.IsPath(name) {
		return n
	}
	short := func(n *doc.Node) *doc.Node {
		if view.Within(n.Text, r.workspace) && n.Text != r.workspace && r.workspace != "/" {
			return doc.Str(n.Text[len(r.workspace)+1:])
		}
		return n
	}
	if n.Kind != doc.List {
		return short(n)
	}
	list := &doc.Node{Kind: doc.List}
	for _, item := range n.Items {
		list.Items = append(list.Items, short(item))
	}
	return list
}

// id is the next call's: a number behind the last part of the run's own.
func (b *Broker) nextID() string {
	b.calls++
	tail := b.start.Execution[strings.LastIndexByte(b.start.Execution, '-')+1:]
	return tail + "-" + strconv.FormatInt(b.calls, 10)
}
