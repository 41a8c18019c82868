package document

import (
	"path"
	"slices"
	"strings"
	"time"

	"sbx/internal/broker/caps"
	"sbx/internal/doc"
	"sbx/spec"
)

// timeout is the default of a tool's timeout.
const timeout = time.Minute

// tool reads one tool; dir is the document's directory.
func (r *reader) tool(n *doc.Node, at, name, dir string) *Tool {
	t := &Tool{Name: name, Timeout: timeout, MaxResult: maxResult, Args: &doc.Node{Kind: doc.Object}, SpecDir: dir}
	var run, needs []string
	r.object(n, at, fields{
		"description": r.text(&t.Description),
		"run":         r.texts(&run),
		"mcp":         r.texts(&t.Server), "tool": r.word(&t.Remote), "schema_sha256": r.digest(&t.Pin),
		"args": func(n *doc.Node, at string) {
			if r.want(n, at, doc.Object) {
				t.Args = n
			}
		},
		"needs": r.texts(&needs), "secrets": r.texts(&t.Secrets), "dash": r.flag(&t.Dash),
		"timeout": r.duration(&t.Timeout), "max_result": r.size(&t.MaxResult),
		"stdin": func(n *doc.Node, at string) {
			var s string
			if r.text(&s)(n, at); r.err == nil {
				t.Stdin = r.template(n, at, s)
			}
		},
		"spec": func(n *doc.Node, at string) {
			t.At = n.Pos
			if n.Kind == doc.String {
				t.Spec, t.SpecFile = r.specFile(n, at, dir)
				t.SpecDir = path.Dir(t.SpecFile)
			} else if _, err := spec.DecodeNode(r.name, n); err != nil {
				r.fail(n, at, err.Error(), "")
			} else {
				t.Spec = n
			}
		},
	})
	if r.err != nil {
		return t
	}
	r.bounds(t, n, at)
	r.arguments(t, at)
	for i, s := range run {
		t.Run = append(t.Run, r.template(n.Get("run").Items[i], at+".run", s))
	}
	for i, s := range needs {
		r.need(t, n.Get("needs").Items[i], at+".needs", s)
	}
	for _, used := range append(slices.Concat(t.Run, t.needs), t.Stdin) {
		for _, arg := range used.Args() {
			if t.Args.Get("properties").Get(arg) == nil {
				r.fail(n, at, "{"+arg+"} is none of the properties of args", "")
			}
		}
	}
	return t
}

// bounds checks that a tool is a program or a tool of an MCP server, and checks its
// limits.
func (r *reader) bounds(t *Tool, n *doc.Node, at string) {
	switch mcp := n.Get("mcp") != nil; {
	case mcp == (n.Get("run") != nil):
		r.fail(n, at, "want run, the command line of a program, or mcp, that of an MCP server", "")
	case mcp && (len(t.Server) == 0 || t.Remote == "" || t.Pin == ""):
		r.fail(n, at, "a tool of an MCP server has mcp, tool and schema_sha256", "")
	case mcp && (t.Stdin != nil || t.Dash), !mcp && (t.Remote != "" || t.Pin != ""):
		r.fail(n, at, "run goes with stdin and dash; mcp with tool and schema_sha256", "")
	case !mcp && (len(n.Get("run").Items) == 0 || strings.ContainsAny(n.Get("run").Items[0].Text, "{}")):
		r.fail(n, at+".run", "want a program, without arguments in its name, before its arguments", "")
	case t.Timeout > 24*time.Hour:
		r.fail(n, at+".timeout", "at most 24h", "")
	case t.MaxResult > maxResult:
		r.fail(n, at+".max_result", "at most 8MiB", "")
	}
}

// arguments closes the schema of a tool's arguments: unless it says otherwise, no other
// arguments are allowed.
func (r *reader) arguments(t *Tool, at string) {
	if properties := t.Args.Get("properties"); properties != nil {
		r.named(properties, at+".args.properties", func(*doc.Node, string, string) {})
	}
	if kind := t.Args.Get("type"); kind == nil {
		t.Args = t.Args.With("type", doc.Str("object"))
	} else if kind.Kind != doc.String || kind.Text != "object" {
		r.fail(kind, at+".args.type", "arguments are an object", "")
	}
	if t.Args.Get("additionalProperties") == nil && t.Args.Get("unevaluatedProperties") == nil {
		t.Args = t.Args.With("additionalProperties", doc.Truth(false))
	}
}

func (r *reader) template(n *doc.Node, at, text string) Template {
	t, why := readTemplate(text)
	if why != "" {
		r.fail(n, at, why, "")
	}
	return t
}

// need reads a capability that a tool needs, which may have arguments in it.
func (r *reader) need(t *Tool, n *doc.Node, at, text string) {
	k, value, ok := caps.Split(text)
	tmpl := r.template(n, at, text)
	args := tmpl.Args()
	switch {
	case r.err != nil:
	case ok && len(args) == 0:
		if _, why := caps.Parse(tmpl[0].text, "/"); why != "" {
			r.fail(n, at, "no capability: "+why, "")
		} else if k <= caps.Write && value[0] != '/' {
			r.fail(n, at, "want an absolute path of the sandbox, or {ARGUMENT}", "")
		}
	case !ok || len(tmpl) == 0 || tmpl[0].arg != "":
		r.fail(n, at, "want fs.read:PATH, fs.write:PATH, net:HOST:PORT, exec:PROGRAM or secret:NAME", "")
	case k >= caps.Exec:
		r.fail(n, at, "which program and which secret is not the caller's to say", "")
	case k <= caps.Write && value != "{"+args[0]+"}":
		r.fail(n, at, "want a whole path, or one argument that is one", "")
	case len(t.Server) > 0:
		r.fail(n, at, "an MCP server runs in one sandbox for all calls: name what it may use", "")
	case k <= caps.Write:
		t.paths = append(t.paths, args[0])
	}
	t.needs = append(t.needs, tmpl)
}

// specFile reads the spec of a tool from the file that n names.
func (r *reader) specFile(n *doc.Node, at, dir string) (root *doc.Node, file string) {
	file = n.Text
	if !path.IsAbs(file) {
		file = path.Join(dir, file)
	}
	text, err := spec.Read(file)
	if err != nil {
		r.fail(n, at, err.Error(), "")
		return nil, file
	}
	s, err := spec.Decode(file, text)
	if err != nil {
		r.fail(n, at, err.Error(), "")
		return nil, file
	}
	return s.Source.Root, file
}
