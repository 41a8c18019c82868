package document

import (
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"sbx/internal/broker/caps"
	"sbx/internal/doc"
)

// MaxResult is the upper bound, and the default, of the bytes of a tool's output that are
// passed on to the caller; the same bound holds for its error output.
const MaxResult = 8 << 20

// Tool is a program or a tool of an MCP server.
type Tool struct {
	Name, Description string

	Run    []Template
	Stdin  Template // nil for none
	Dash   bool     // an argument may begin with -
	Server []string // of an MCP server: its command line
	Remote string   // its name for the tool
	Pin    string   // the digest of its schema

	Args      *doc.Node // the JSON Schema of the arguments, an object's
	Secrets   []string
	Spec      *doc.Node // of its own sandbox; nil for what its capabilities name alone
	At        doc.Pos   // of its spec
	SpecFile  string    // that it was read from, absolute; "" for none
	SpecDir   string    // the folder that its working_dir counts from
	Timeout   time.Duration
	MaxResult int64
	Files     []string // of its program: as PATH has it, and what that leads to

	needs  []Template
	paths  []string // arguments that are paths
	schema *jsonschema.Resolved
}

// Fixed are the capabilities of a tool that no argument is in.
func (t *Tool) Fixed() (all []caps.Cap) {
	for _, n := range t.needs {
		if len(n.Args()) == 0 {
			if c, why := caps.Parse(n[0].text, "/"); why == "" {
				all = append(all, c)
			}
		}
	}
	for _, name := range t.Secrets {
		all = append(all, caps.Cap{Kind: caps.Secret, Value: name})
	}
	return all
}

// Program is what a tool starts.
func (t *Tool) Program() string {
	if len(t.Server) > 0 {
		return t.Server[0]
	}
	return t.Run[0].Fill(nil)[0]
}

// Needed are the capabilities that a call of the tool needs, by its arguments as Normal
// gives them; why tells what of them is none.
func (t *Tool) Needed(args *doc.Node) (all []caps.Cap, why string) {
	for _, n := range t.needs {
		fill := n.Fill(args)
		if arg := n.list(args); arg != nil {
			fill = fill[:0]
			for _, item := range arg.Items {
				fill = append(fill, n[0].text+Text(item))
			}
		}
		for _, text := range fill {
			c, why := caps.Parse(text, "/")
			if why != "" {
				return nil, doc.Quote(text) + " is not a capability: " + why
			}
			all = append(all, c)
		}
	}
	for _, name := range t.Secrets {
		all = append(all, caps.Cap{Kind: caps.Secret, Value: name})
	}
	return all, ""
}

// Normal is a call's arguments with each path absolute and clean: of the arguments that
// a capability of the tool names, counted from the sandbox's workspace. why tells which
// is no path.
func (t *Tool) Normal(args *doc.Node, workspace string) (normal *doc.Node, why string) {
	normal = args
	for _, name := range t.paths {
		n := args.Get(name)
		if n == nil {
			continue
		}
		clean := func(n *doc.Node) *doc.Node {
			if n.Kind != doc.String {
				why = name + ": want a path"
				return n
			}
			path, bad := caps.Clean(n.Text, workspace)
			if bad != "" {
				why = name + ": " + bad
			}
			return doc.Str(path)
		}
		if n.Kind != doc.List {
			normal = normal.With(name, clean(n))
			continue
		}
		list := &doc.Node{Kind: doc.List}
		for _, item := range n.Items {
			list.Items = append(list.Items, clean(item))
		}
		normal = normal.With(name, list)
	}
	return normal, why
}

// IsPath tells whether an argument is a path that a capability names.
func (t *Tool) IsPath(arg string) bool {
	for _, p := range t.paths {
		if p == arg {
			return true
		}
	}
	return false
}
