package oci

import (
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// Container is a bundle that an engine has prepared, parsed from its config.json
// (opencontainers/runtime-spec, config.md).
type Container struct {
	ID     string
	Bundle string // absolute
	Config *doc.Node

	Root        string // the root directory of its files on the host, absolute
	ReadOnly    bool   // root.readonly
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

	raw *doc.Node // the mount as written, with members that are not parsed; nil for one that sbx added
}

// Decode parses a config.json. Config keeps unknown members as they are.
func Decode(id, bundle string, config []byte) (*Container, error) {
	root, err := doc.ParseJSON("config.json", config)
	if err == nil {
		err = clear(root)
	}
	if err == nil {
		err = single(root)
	}
	if err != nil {
		return nil, err
	}
	c := &Container{ID: id, Bundle: bundle, Config: root, Annotations: map[string]string{}}
	p := root.Get("process")
	c.Args, c.Env, c.Cwd = doc.Texts(p.Get("args")), doc.Texts(p.Get("env")), doc.Text(p.Get("cwd"))
	c.UID, c.GID = int(whole(p.Get("user").Get("uid"))), int(whole(p.Get("user").Get("gid")))
	c.Root = from(bundle, doc.Text(root.Get("root").Get("path")))
	c.ReadOnly = isTrue(root.Get("root").Get("readonly"))
	for _, n := range doc.Items(root.Get("mounts")) {
		m := Mount{Target: doc.Text(n.Get("destination")), Type: doc.Text(n.Get("type")), Source: doc.Text(n.Get("source")), Options: doc.Texts(n.Get("options")), raw: n}
		if m.binds() {
			m.Source = from(bundle, m.Source)
		}
		if !strings.HasPrefix(m.Target, "/") {
			m.Target = "/" + m.Target // runtimes do the same
		}
		c.Mounts = append(c.Mounts, m)
	}
	if a := root.Get("annotations"); a != nil {
		for i := range a.Members {
			c.Annotations[a.Members[i].Key] = doc.Text(a.Members[i].Value)
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

// binds reports whether the mount is a bind mount.
func (m *Mount) binds() bool { return m.Type == "bind" || m.has("bind") || m.has("rbind") }

// from returns path, relative paths joined to dir.
func from(dir, path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return strings.TrimRight(dir+"/"+path, "/")
}

// allows reports whether the container's own seccomp filter certainly allows all of these calls, with
// any arguments. One that it does not allow may seem to succeed (SCMP_ACT_ERRNO with errno 0); and of
// several rules for a call each runtime takes another.
func (c *Container) allows(calls ...string) bool {
	filter := c.Config.Get("linux").Get("seccomp")
	if filter == nil || filter.Kind == doc.Null {
		return true
	}
	for _, call := range calls {
		allowed := doc.Text(filter.Get("defaultAction")) == "SCMP_ACT_ALLOW"
		for _, rule := range doc.Items(filter.Get("syscalls")) {
			for _, name := range doc.Texts(rule.Get("names")) {
				switch {
				case name != call:
				case doc.Text(rule.Get("action")) != "SCMP_ACT_ALLOW":
					return false
				case len(doc.Items(rule.Get("args"))) == 0:
					allowed = true
				}
			}
		}
		if !allowed {
			return false
		}
	}
	return true
}

// namespace returns the entry of config.json for a kind of namespace; nil if the container
// uses the host's.
func (c *Container) namespace(kind string) *doc.Node {
	for _, n := range doc.Items(c.Config.Get("linux").Get("namespaces")) {
		if doc.Text(n.Get("type")) == kind {
			return n
		}
	}
	return nil
}

// whole returns the value of an integer node; 0 for anything else.
func whole(n *doc.Node) int64 {
	v, _ := doc.Whole(n)
	return v
}

func isTrue(n *doc.Node) bool { return n != nil && n.Text == "true" }

// object builds an object from alternating keys and values; it leaves out nil values.
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
	n := object("destination", doc.Str(m.Target), "type", doc.Str(m.Type), "source", doc.Str(m.Source), "options", doc.Strs(m.Options))
	if m.raw != nil {
		for i := range m.raw.Members {
			if k := m.raw.Members[i].Key; n.Get(k) == nil {
				n = n.With(k, m.raw.Members[i].Value)
			}
		}
	}
	return n
}

// members lists the members of config.json and of a process that sbx-oci reads or replaces.
var members = []string{"process", "args", "env", "cwd", "user", "uid", "gid", "capabilities", "bounding", "effective", "permitted", "inheritable", "ambient",
	"rlimits", "type", "hard", "soft", "noNewPrivileges", "commandLine", "root", "path", "readonly", "mounts", "destination", "source", "options", "uidMappings", "gidMappings",
	"annotations", "hooks", "prestart", "createRuntime", "startContainer", "linux", "namespaces", "seccomp", "defaultAction", "syscalls", "names", "action", "listenerPath",
	"resources", "memory", "limit", "swap", "pids", "cpu", "quota", "period", "burst", "devices", "maskedPaths", "readonlyPaths", "rootfsPropagation", "sysctl", "unified"}

// clear rejects what a runtime reads otherwise than sbx-oci. runc's decoder ignores the case of member
// names: it would use a member whose name differs from one of members only in case, which sbx-oci would
// not see. crun is written in C: to it, names and strings end at a NUL.
func clear(n *doc.Node) error { return clearIn(n, true) }

// clearIn is clear; known is false for an object whose members have arbitrary names.
func clearIn(n *doc.Node, known bool) error {
	if strings.ContainsRune(n.Text, 0) {
		return &spec.Problem{On: "config.json", Do: "read the value " + spec.Word(n.Text), Why: "some runtimes end it at its NUL", Help: "leave the NUL out"}
	}
	for i := range n.Items {
		if err := clearIn(n.Items[i], true); err != nil {
			return err
		}
	}
	for i := range n.Members {
		key := n.Members[i].Key
		if strings.ContainsRune(key, 0) {
			return &spec.Problem{On: "config.json", Do: "read the member " + spec.Word(key), Why: "some runtimes end its name at the NUL", Help: "leave the NUL out"}
		}
		for _, name := range members { // a letter that is not ASCII may be longer than the letter that it folds to
			if known && len(key) >= len(name) && key != name && strings.EqualFold(key, name) {
				return &spec.Problem{On: "config.json", Do: "read the member " + spec.Word(key), Why: "some runtimes take it for " + name, Help: "write it " + name}
			}
		}
		if err := clearIn(n.Members[i].Value, key != "annotations" && key != "sysctl" && key != "unified"); err != nil {
			return err
		}
	}
	return nil
}

// single rejects two namespaces of a type, of which crun takes the last.
func single(config *doc.Node) error {
	is := map[string]bool{}
	for _, n := range doc.Items(config.Get("linux").Get("namespaces")) {
		kind := doc.Text(n.Get("type"))
		if is[kind] {
			return &spec.Problem{On: "config.json", Do: "read linux.namespaces", Why: "two are of type " + spec.Word(kind) + ", and runtimes take another one", Help: "leave one out"}
		}
		is[kind] = true
	}
	return nil
}

// unheard returns the reason why the container's syscalls cannot be sent to a supervisor; "" if
// they can.
func (c *Container) unheard() string {
	filter := c.Config.Get("linux").Get("seccomp")
	switch {
	case filter.Get("listenerPath") != nil:
		return "the container's own list of system calls has a listener, and there can be one"
	case !c.allows("seccomp", "sendmsg", "read", "fcntl"):
		return "the container's own list of system calls shuts seccomp"
	}
	return ""
}
