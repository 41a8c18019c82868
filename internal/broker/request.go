package broker

import (
	"strings"

	"sbx/internal/broker/caps"
	"sbx/internal/broker/document"
	"sbx/internal/broker/policy"
	"sbx/internal/doc"
	"sbx/internal/view"
)

// request is a call as the engines judge it, made from the broker's own state. The caller
// chooses only the tool and the arguments and, if no step of a plan does, the capabilities
// and artifacts, by which it can only restrict itself.
type request struct {
	tool      *document.Tool
	step      int       // the step of the plan; -1 for none
	args      *doc.Node // the arguments, with absolute and clean paths
	argv      []string  // of a program
	stdin     string    // of a program
	workspace string
	needed    []caps.Cap
	requested []caps.Cap
	artifacts []document.Artifact
}

// Verdict is the decision on a call. The executor needs one, and only dispatch.go makes
// one that allows.
type Verdict struct {
	id, step  string
	tool      string // the name that the caller gave, redacted
	effect    policy.Effect
	kind      Kind
	rule      string
	reason    string
	allowWith string
	needs     []string
	rules     int      // the index of the rule that allowed it
	allowed   *request // nil if the call is denied
}

// rebuild makes the request for a call, without its step.
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

// program returns the command line of a tool that is a program. An argument that begins
// with - and would be taken for an option is denied.
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

// argument returns an argument as the rules see it: a path inside of the workspace is
// relative to it, any other path absolute.
func (r *request) argument(name string) *doc.Node {
	n := r.args.Get(name)
	if n == nil || !r.tool.IsPath(name) {
		return n
	}
	return document.Each(n, func(n *doc.Node) *doc.Node {
		if view.Within(n.Text, r.workspace) && n.Text != r.workspace && r.workspace != "/" {
			return doc.Str(n.Text[len(r.workspace)+1:])
		}
		return n
	})
}
