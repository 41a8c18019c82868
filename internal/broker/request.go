package broker

import (
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

// Verdict is a call that was decided. The executor takes one, and dispatch.go alone
// makes them.
type Verdict struct {
	id, step  string
	tool      string // as it is told: the caller's word for it
	effect    policy.Effect
	kind      Kind
	rule      string
	reason    string
	allowWith string
	needs     []string
	rules     int      // the index of the rule that let it pass
	allowed   *request // nil where it is denied
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
