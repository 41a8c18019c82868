package host

import (
	"strings"

	"sbx/internal/read"
	"sbx/wrap"
)

// overlaid is an overlay of the host and the directories that it shows as one.
type overlayMount struct {
	*mountEntry
	layers []string
}

// overlays are those that can be seen, with the layers that stand here: those of a
// container's own root lie in another mount namespace. An overlay in what is
// hidden, as a container engine has many, shows nothing.
func (p *mountTable) overlays() (list []overlayMount) {
next:
	for i := range p.entries {
		s := &p.entries[i]
		if s.options == "" || kindAt(s.path) != wrap.Dir {
			continue
		}
		for j := range p.h.Secrets {
			if f := &p.h.Secrets[j]; f.Kind == wrap.Dir && within(s.path, f.Real) {
				continue next
			}
		}
		o := overlayMount{mountEntry: s}
		for _, dir := range layersOf(s.options) {
			if real := resolve(dir).path; kindAt(real) == wrap.Dir {
				o.layers = append(o.layers, real)
			}
		}
		list = append(list, o)
	}
	return list
}

// layersOf is the absolute directories that the options of an overlay name, overlayfs(5):
// lowerdir=/a:/b,upperdir=/c or, one by one, lowerdir+=/a. A backslash before a
// colon makes it part of the name.
func layersOf(options string) (dirs []string) {
	for option := range strings.SplitSeq(strings.TrimSuffix(options, "\n"), ",") {
		key, value, _ := strings.Cut(option, "=")
		switch strings.TrimSuffix(key, "+") {
		case "lowerdir", "upperdir", "datadir":
		default:
			continue
		}
		var dir []byte
		end := func() {
			if len(dir) > 0 && dir[0] == '/' {
				dirs = append(dirs, string(dir))
			}
			dir = dir[:0]
		}
		value = read.Unescape(value)
		for i := 0; i < len(value); i++ {
			switch {
			case value[i] == '\\' && i+1 < len(value):
				i++
				dir = append(dir, value[i])
			case value[i] == ':' && key == "lowerdir":
				end()
			default:
				dir = append(dir, value[i])
			}
		}
		end()
	}
	return dirs
}

// layered lists where path, or something beneath it, is seen by an overlay that has
// it in a layer, and in the layers of an overlay that it lies on.
func (p *mountTable) throughOverlays(path string, overlays []overlayMount) (list []string) {
	for i := range overlays {
		o := &overlays[i]
		on := p.entryOf(path) == o.mountEntry
		for _, layer := range o.layers {
			at := ""
			switch {
			case within(path, layer):
				if inside := joinRest("/", remainder(path, layer)); within(inside, o.root) {
					at = joinRest(o.path, remainder(inside, o.root))
				}
			case within(layer, path):
				at = o.path
			case on:
				at = joinRest(layer, remainder(o.inside(path), "/"))
			}
			switch {
			case at == "", within(at, path), kindAt(at) == wrap.Absent:
			case !on && p.entryOf(at) != o.mountEntry: // another mount lies over it
			case within(layer, path) && (within(p.r.Home, at) || within(p.r.WorkingDir.Real, at)):
				// that is what the caller works in, wherever it comes from
			default:
				list = append(list, at)
			}
		}
	}
	return list
}
