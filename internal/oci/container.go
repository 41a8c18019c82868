package oci

import (
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// Container is what an engine has made ready, as its config.json tells
// (opencontainers/runtime-spec, config.md).
type Container struct {
	ID     string
	Bundle string // absolute
	Config *doc.Node

	Root        string // of its files on the host, absolute
	Args, Env   []string
	Cwd         string
	UID, GID    int
	Mounts      []Mount
	Annotations map[string]string
}

// Mount is a mount of a config.json.
type Mount struct {
	Target, Type, Source string
	Options              []string
}

// Decode reads a config.json. Members that are not known stay in Config as they are.
func Decode(id, bundle string, config []byte) (*Container, error) {
	root, err := doc.ParseJSON("config.json", config)
	if err != nil {
		return nil, err
	}
	c := &Container{ID: id, Bundle: bundle, Config: root, Annotations: map[string]string{}}
	p := root.Get("process")
	c.Args, c.Env, c.Cwd = texts(p.Get("args")), texts(p.Get("env")), text(p.Get("cwd"))
	c.UID, c.GID = int(whole(p.Get("user").Get("uid"))), int(whole(p.Get("user").Get("gid")))
	c.Root = from(bundle, text(root.Get("root").Get("path")))
	for _, n := range doc.Items(root.Get("mounts")) {
		m := Mount{Target: text(n.Get("destination")), Type: text(n.Get("type")), Source: text(n.Get("source")), Options: texts(n.Get("options"))}
		if m.binds() {
			m.Source = from(bundle, m.Source)
		}
		if !strings.HasPrefix(m.Target, "/") {
			m.Target = "/" + m.Target // as runtimes do
		}
		c.Mounts = append(c.Mounts, m)
	}
	if a := root.Get("annotations"); a != nil {
		for i := range a.Members {
			c.Annotations[a.Members[i].Key] = text(a.Members[i].Value)
		}
	}
	return c, nil
}

func (m *Mount) has(option string) bool {
	for _, o := range m.Options {
		if o == option {
			return true
		}
	}
	return false
}

// binds tells whether the mount shows files of the host.
func (m *Mount) binds() bool { return m.Type == "bind" || m.has("bind") || m.has("rbind") }

// from is a path as it counts from a directory.
func from(dir, path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return strings.TrimRight(dir+"/"+path, "/")
}

// allows tells whether the container's own filter of system calls lets all of these run.
func (c *Container) allows(calls ...string) bool {
	filter := c.Config.Get("linux").Get("seccomp")
	if filter == nil {
		return true
	}
	for _, call := range calls {
		allowed := text(filter.Get("defaultAction")) == "SCMP_ACT_ALLOW"
		for _, rule := range doc.Items(filter.Get("syscalls")) {
			for _, name := range texts(rule.Get("names")) {
				if name == call && len(doc.Items(rule.Get("args"))) == 0 {
					allowed = text(rule.Get("action")) == "SCMP_ACT_ALLOW"
				}
			}
		}
		if !allowed {
			return false
		}
	}
	return true
}

// namespace is the entry of config.json about a kind of namespace; nil where the container
// has the host's.
func (c *Container) namespace(kind string) *doc.Node {
	for _, n := range doc.Items(c.Config.Get("linux").Get("namespaces")) {
		if text(n.Get("type")) == kind {
			return n
		}
	}
	return nil
}

// Readers and makers of nodes.

func text(n *doc.Node) string {
	if n == nil || n.Kind != doc.String {
		return ""
	}
	return n.Text
}

func texts(n *doc.Node) (list []string) {
	for _, item := range doc.Items(n) {
		list = append(list, text(item))
	}
	return list
}

// whole is a whole number; 0 for anything else.
func whole(n *doc.Node) int64 {
	if n == nil || n.Kind != doc.Number {
		return 0
	}
	v, _ := strconv.ParseInt(n.Text, 10, 64)
	return v
}

func str(s string) *doc.Node   { return &doc.Node{Kind: doc.String, Text: s} }
func number(v int64) *doc.Node { return &doc.Node{Kind: doc.Number, Text: strconv.FormatInt(v, 10)} }
func truth(v bool) *doc.Node   { return &doc.Node{Kind: doc.Bool, Text: strconv.FormatBool(v)} }
func list(n ...*doc.Node) *doc.Node {
	return &doc.Node{Kind: doc.List, Items: n}
}

func strs(all []string) *doc.Node {
	n := list()
	for _, s := range all {
		n.Items = append(n.Items, str(s))
	}
	return n
}

// object is an object of pairs of key and value; a nil value is left out.
func object(pairs ...any) *doc.Node {
	n := &doc.Node{Kind: doc.Object}
	for i := 0; i < len(pairs); i += 2 {
		if v, _ := pairs[i+1].(*doc.Node); v != nil {
			n.Members = append(n.Members, doc.Member{Key: pairs[i].(string), Value: v})
		}
	}
	return n
}

func (m *Mount) node() *doc.Node {
	return object("destination", str(m.Target), "type", str(m.Type), "source", str(m.Source), "options", strs(m.Options))
}

// unheard says why no supervisor can be sent the calls of the container; "" where one can.
func (c *Container) unheard() string {
	filter := c.Config.Get("linux").Get("seccomp")
	switch {
	case filter.Get("listenerPath") != nil:
		return "the container's own list of system calls has a listener, and there can be one"
	case !c.allows("seccomp", "sendmsg", "read"):
		return "the container's own list of system calls shuts seccomp"
	}
	return ""
}
