package broker

import (
	"slices"
	"strconv"

	"sbx/internal/broker/caps"
	"sbx/internal/broker/document"
	"sbx/internal/doc"
	"sbx/internal/view"
	"sbx/spec"
)

// shown is a path that a tool sees: the host's source, at the path that it has in the
// sandbox.
type shown struct {
	path, source string
	write        bool
}

// shows returns the paths of a call's capabilities.
func (w *walls) shows(needed []caps.Cap) (all []shown) {
	for _, c := range needed {
		if c.Kind > caps.Write {
			continue
		}
		at := w.granted.Tree.At(c.Value)
		source := at.Source
		if source == "" || at.Access < view.Read+view.Access(c.Kind) {
			source = c.Value // a path of broker.grant is the host's
		}
		all = append(all, shown{c.Value, source, c.Kind == caps.Write})
	}
	return all
}

// documents returns the specs of a tool's sandbox, each narrower than the one before:
// first what the sandbox can write and must not see, so that links inside lead nowhere
// else; then the tool's own spec; then exactly what the call's capabilities name.
func (w *walls) documents(t *document.Tool, needed []caps.Cap, timeout bool) []*doc.Node {
	shows := w.shows(needed)
	var all []*doc.Node
	if len(shows) > 0 {
		write := append(w.places(view.Write), doc.Texts(t.Spec.Get("filesystem").Get("write"))...)
		if mode := t.Spec.Get("access_mode"); mode != nil && mode.Text == spec.WorkspaceWrite.String() {
			write = append(write, ".")
		}
		for _, s := range shows {
			if s.write && !w.writable(s.source) {
				write = append(write, s.source)
			}
		}
		around := object(nil, "filesystem", object(nil, "write", list(write)))
		if dir := w.workingDir(t); dir != nil {
			around = object(around, "working_dir", dir)
		}
		all = append(all, around)
	}
	pass := append([]string{"PATH", "HOME", "LANG"}, t.Secrets...)
	narrow := object(nil, "network", network(needed))
	if t.Spec == nil {
		narrow = object(narrow, "environment", object(nil, "pass", list(pass)))
	} else {
		environment := t.Spec.Get("environment")
		pass = append(pass, doc.Texts(environment.Get("pass"))...)
		own := object(t.Spec, "environment", object(environment, "pass", list(pass)))
		if dir := w.workingDir(t); dir != nil {
			own = object(own, "working_dir", dir)
		}
		all = append(all, own)
	}
	narrow = object(narrow, "filesystem", w.filesystem(t, shows))
	if programs := w.commands(t, needed); programs != nil {
		narrow = object(narrow, "commands", object(nil, "allow", list(programs)))
	}
	if timeout && t.Spec.Get("limits").Get("timeout") == nil {
		narrow = object(narrow, "limits", object(nil, "timeout", doc.Str(strconv.FormatInt(t.Timeout.Milliseconds(), 10)+"ms")))
	}
	return append(all, narrow)
}

// workingDir returns a tool's working directory as an absolute path; nil if its spec has
// none.
func (w *walls) workingDir(t *document.Tool) *doc.Node {
	dir := t.Spec.Get("working_dir")
	if dir == nil || dir.Text == "" || dir.Text[0] == '/' || dir.Text[0] == '~' {
		return dir
	}
	return doc.Str(t.SpecDir + "/" + dir.Text)
}

// filesystem returns the files of the host that a tool sees.
func (w *walls) filesystem(t *document.Tool, shows []shown) *doc.Node {
	read, write := doc.Texts(t.Spec.Get("filesystem").Get("read")), []string{}
	if t.Spec.Get("filesystem").Get("read") == nil {
		read = append([]string{"@system"}, t.Files...)
	}
	mounts := &doc.Node{Kind: doc.List}
	for _, s := range shows {
		switch {
		case s.path != s.source:
			mode := "ro"
			if s.write {
				mode = "rw"
			}
			mounts.Items = append(mounts.Items, object(object(object(nil, "source", doc.Str(s.source)), "target", doc.Str(s.path)), "mode", doc.Str(mode)))
		case s.write:
			write = append(write, s.source)
		default:
			read = append(read, s.source)
		}
	}
	fs := object(object(nil, "read", list(read)), "write", list(write))
	if hidden := w.places(view.Hidden); len(shows) > 0 && len(hidden) > 0 {
		fs = object(fs, "hide", list(hidden))
	}
	if len(mounts.Items) > 0 {
		fs = object(fs, "mounts", mounts)
	}
	return fs
}

// network returns what a tool may reach.
func network(needed []caps.Cap) *doc.Node {
	var hosts []string
	for _, c := range needed {
		if c.Kind == caps.Net && !slices.Contains(hosts, c.Value) {
			hosts = append(hosts, c.Value)
		}
	}
	if len(hosts) == 0 {
		return object(nil, "mode", doc.Str(spec.NetworkNone.String()))
	}
	return object(object(nil, "mode", doc.Str(spec.NetworkAllow.String())), "allow", list(hosts))
}

// commands returns the programs that a tool may start, if its capabilities name some.
func (w *walls) commands(t *document.Tool, needed []caps.Cap) (all []string) {
	for _, c := range needed {
		if c.Kind == caps.Exec {
			all = append(all, c.Value)
		}
	}
	if all != nil {
		all = append(all, t.Files[0])
	}
	return all
}

// list is a list of strings without duplicates.
func list(items []string) *doc.Node {
	n := doc.ListOf()
	for i, s := range items {
		if slices.Index(items, s) == i {
			n.Items = append(n.Items, doc.Str(s))
		}
	}
	return n
}

func object(of *doc.Node, key string, value *doc.Node) *doc.Node { return of.With(key, value) }
