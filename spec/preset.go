package spec

import (
	"slices"
	"strings"

	"sbx/internal/doc"
)

// PresetAt is a preset that an item of filesystem.read or write names.
type PresetAt struct {
	Name, Why, Gives string
	Loud             bool
	Field            Field
	Paths            []string // that the preset opens
}

// Presets lists the names that filesystem.write takes for sets of paths.
func Presets() []string { return presetNames(func(*preset) bool { return true }) }

func presetNames(is func(*preset) bool) (names []string) {
	for i := range presets {
		if is(&presets[i]) {
			names = append(names, presets[i].name)
		}
	}
	return names
}

func presetOf(item string) *preset {
	for i := range presets {
		if presets[i].name == item {
			return &presets[i]
		}
	}
	return nil
}

// ReadSets lists the names that filesystem.read takes for sets of paths.
func ReadSets() []string {
	return append([]string{System}, presetNames(func(p *preset) bool { return !p.socket })...)
}

// Caches lists the paths of the sets other than those of sockets.
func (r *Resolved) Caches() (all []string) {
	for i := range presets {
		if p := &presets[i]; !p.socket {
			all = append(all, p.paths(&r.in)...)
		}
	}
	return all
}

// PresetFor returns the set of the cache that contains a path; "" for none.
func (r *Resolved) PresetFor(path string) string {
	for i := range presets {
		if p := &presets[i]; !p.socket && slices.ContainsFunc(p.paths(&r.in), func(cache string) bool { return under(path, cache) }) {
			return p.name
		}
	}
	return ""
}

// setRule rejects a name with "@" that is not known.
func setRule(s string, known []string) (why, meant, help string) {
	if slices.Contains(known, s) {
		return "", "", ""
	}
	if p := presetOf(s); p != nil && p.socket {
		return s + " is a socket, which filesystem.write opens", "", "name it there"
	}
	return "unknown set of files", doc.Nearest(s, known), "the sets are " + strings.Join(known, ", ") + "; write ./" + cut(s) + " for a file of that name"
}

// paths returns the absolute paths of a preset for the caller's variables.
func (p *preset) paths(in *Inputs) (all []string) {
	get := func(name string) string {
		value := ""
		for _, v := range in.Environ {
			if key, rest, _ := strings.Cut(v, "="); key == name {
				value = rest
			}
		}
		return value
	}
	for i := range p.places {
		path := p.places[i].at(in.Home, get)
		if path != "" && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}

// at returns the path of a place; "" for none. A variable that is set but has no absolute path means
// that there is none.
func (p *presetPlace) at(home string, get func(string) string) string {
	for _, v := range p.vars {
		value := get(v.name)
		if value == "" {
			continue
		}
		if v.read != nil {
			value = v.read(value, get)
		}
		if !strings.HasPrefix(value, "/") || strings.IndexByte(value, 0) >= 0 {
			return ""
		}
		return clean(value) + v.below
	}
	rest, ofHome := strings.CutPrefix(p.path, "~")
	switch {
	case !ofHome:
		return p.path
	case home == "":
		return ""
	}
	return home + rest
}

// preset opens the paths of an item with "@", except those that do not exist. A missing cache goes to
// Absent: the caller may create it.
func (r *resolver) preset(f Field, item string, write bool) {
	p := presetOf(item)
	if p == nil {
		return // the decoder rejects such a name
	}
	toMake := len(r.out.Absent)
	at := PresetAt{Name: p.name, Why: p.why, Gives: p.gives, Loud: p.loud, Field: f}
	for _, abs := range p.paths(&r.in) {
		path, why := r.follow(f, "open "+odd(abs)+" ("+item+")", abs, "/")
		path.Asked = item
		switch {
		case why == "" && !p.socket && r.isSecret(abs, path.Real):
			r.refuse(f, "open "+odd(abs)+" ("+item+")", "a variable of the caller's moves it to a secret, which its own name alone opens", "name "+odd(path.Real)+" itself, if that is meant")
			continue
		case why != "" || path.Exists && path.IsDir == p.socket:
			continue
		case !path.Exists:
			if write && !p.socket && !r.spec.downgraded() {
				r.out.Absent = append(r.out.Absent, path)
			}
			continue
		case !write:
			r.out.Read = append(r.out.Read, path)
		case r.spec.downgraded():
			r.keepReading(path)
			continue
		default:
			r.out.Write = append(r.out.Write, path)
		}
		at.Paths = append(at.Paths, path.Real)
	}
	list, _, _ := strings.Cut(string(f), "[")
	switch {
	case len(r.out.Absent) > toMake:
		r.note(Field(list), item+": a part does not exist yet ("+p.why+"); sbx exec creates it")
	case len(at.Paths) == 0:
		r.note(Field(list), item+" opens nothing: not found ("+p.why+")")
	}
	r.out.Presets = append(r.out.Presets, at)
}

// isSecret reports whether one of paths is hidden by default.
func (r *resolver) isSecret(paths ...string) bool {
	return r.in.Lists.Secret != nil && slices.ContainsFunc(paths, func(path string) bool { return r.in.Lists.Secret(path, r.in.Home) })
}

// PresetWhy returns the preset that an item of a list names, and its description; "" for none.
func (r *Resolved) PresetWhy(f Field) string {
	for i := range r.Presets {
		if p := &r.Presets[i]; p.Field == f {
			return p.Name + ", " + p.Why
		}
	}
	return ""
}

// withPresets returns a list of paths with its presets replaced by the paths that they opened.
func (r *Resolved) withPresets(f Field, n *Node) *Node {
	list := *n
	list.Items = nil
	for _, item := range n.Items {
		if presetOf(item.Text) == nil {
			list.Items = append(list.Items, item)
			continue
		}
		for i := range r.Presets {
			p := &r.Presets[i]
			if p.Name != item.Text || !strings.HasPrefix(string(p.Field), string(f)) {
				continue
			}
			for _, path := range p.Paths {
				one := *item
				one.Text = path
				list.Items = append(list.Items, &one)
			}
			break
		}
	}
	return &list
}
