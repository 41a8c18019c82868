package host

import (
	"strings"

	"sbx/internal/read"
	"sbx/wrap"
)

// overlayMount is an overlay of the host with the directories that it merges.
type overlayMount struct {
	*read.Mount
	layers []string
}

// overlays returns the visible overlays with those of their layers that exist
// here: the layers of a container's own root lie in another mount namespace. Overlays
// inside hidden directories, of which a container engine has many, show nothing and are left
// out.
func (p *mountTable) overlays() (list []overlayMount) {
next:
	for i := range p.entries {
		s := &p.entries[i]
		if s.Type != "overlay" || kindAt(s.Path) != wrap.Dir {
			continue
		}
		for j := range p.h.Secrets {
			if f := &p.h.Secrets[j]; f.Kind == wrap.Dir && within(s.Path, f.Real) {
				continue next
			}
		}
		o := overlayMount{Mount: s}
		for _, dir := range layersOf(s.Super) {
			if real := resolve(dir).path; kindAt(real) == wrap.Dir {
				o.layers = append(o.layers, real)
			}
		}
		list = append(list, o)
	}
	return list
}

// layersOf returns the absolute directories in the options of an overlay (overlayfs(5)):
// lowerdir=/a:/b,upperdir=/c or, one by one, lowerdir+=/a. A backslash before a colon makes
// the colon part of the name.
func layersOf(options string) (dirs []string) {
	for option := range strings.SplitSeq(options, ",") {
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

// throughOverlays returns the paths at which path, or something under it, is
// visible through an overlay that has it in a layer, and the paths in an overlay's layers
// if path itself lies on that overlay.
func (p *mountTable) throughOverlays(path string, overlays []overlayMount) (list []string) {
	for i := range overlays {
		o := &overlays[i]
		on := p.entryOf(path) == o.Mount
		for _, layer := range o.layers {
			at := ""
			switch {
			case within(path, layer):
				if inside := join("/", relative(path, layer)); within(inside, o.Root) {
					at = join(o.Path, relative(inside, o.Root))
				}
			case within(layer, path):
				at = o.Path
			case on:
				at = join(layer, relative(inFileSystem(o.Mount, path), "/"))
			}
			switch {
			case at == "", within(at, path), kindAt(at) == wrap.Absent:
			case !on && p.entryOf(at) != o.Mount: // another mount covers it
			case within(layer, path) && (within(p.r.Home, at) || within(p.r.WorkingDir.Real, at)):
				// the caller works in at, so it is never hidden
			default:
				list = append(list, at)
			}
		}
	}
	return list
}
