package document

import (
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"sbx/internal/broker/caps"
	"sbx/internal/doc"
)

// maxResult is the upper bound, and the default, of the bytes of a tool's output that are
// passed on to the caller; the same bound holds for its error output.
const maxResult = 8 << 20

// Tool is a program, or a tool of an MCP server.
type Tool struct {
	Name, Description string

	Run    []Template
	Stdin  Template // nil for none
	Dash   bool     // an argument may begin with -
	Server []string // the command line of the MCP server
	Remote string   // the server's name for the tool
	Pin    string   // the digest of the schema that the server must report

	Args      *doc.Node // the JSON Schema of the arguments, which are an object
	Secrets   []string
	Spec      *doc.Node // the spec of its own sandbox; nil: only what its capabilities name
	At        doc.Pos   // the position of its spec
	SpecFile  string    // the absolute path of the file with the spec; "" for none
	SpecDir   string    // the directory to which the spec's working_dir is relative
	Timeout   time.Duration
	MaxResult int64
	Files     []string // the program's path as found in PATH, and with links resolved

	needs  []Template
	paths  []string // the names of arguments that are paths
	schema *jsonschema.Resolved
}

// Fixed returns the capabilities of a tool that do not depend on arguments.
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

// Program returns the name of the program that a tool starts.
func (t *Tool) Program() string {
	if len(t.Server) > 0 {
		return t.Server[0]
	}
	return t.Run[0].Fill(nil)[0]
}

// Needed returns the capabilities that a call of the tool needs; args come from Normal.
// why says which one is invalid.
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

// Normal returns a call's arguments with absolute and clean paths. It treats an argument
// as a path if a capability of the tool names it; relative paths start at the sandbox's
// workspace. why says which path is invalid.
func (t *Tool) Normal(args *doc.Node, workspace string) (normal *doc.Node, why string) {
	normal = args
	for _, name := range t.paths {
		n := args.Get(name)
		if n == nil {
			continue
		}
		normal = normal.With(name, Each(n, func(n *doc.Node) *doc.Node {
			if n.Kind != doc.String {
				why = name + ": want a path"
				return n
			}
			path, bad := caps.Clean(n.Text, workspace)
			if bad != "" {
				why = name + ": " + bad
			}
			return doc.Str(path)
		}))
	}
	return normal, why
}

// Each returns the result of f for an argument; for a list, that of each item.
func Each(n *doc.Node, f func(*doc.Node) *doc.Node) *doc.Node {
	if n.Kind != doc.List {
		return f(n)
	}
	list := &doc.Node{Kind: doc.List}
	for _, item := range n.Items {
		list.Items = append(list.Items, f(item))
	}
	return list
}

// IsPath reports whether an argument is a path that a capability names.
func (t *Tool) IsPath(arg string) bool { return slices.Contains(t.paths, arg) }
