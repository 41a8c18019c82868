package wrap

import (
	"strings"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// item is something that begins at a path inside. The View has it, the mounts put it
// there and other tools are told of it: all by the same list of items, of which a later
// one lies over an earlier. So the View cannot say one thing and the mounts show another.
type item struct {
	how    how
	kind   Kind
	mode   Mode
	soft   bool // what is not there any more may stay away
	part   bool // of what is laid as a whole, as /proc is: the View does not tell it apart
	perm   uint32
	slot   int // where a clone or descriptor of the source is; which empty directory; how many terminals, or bytes
	path   string
	source string // see how
	field  spec.Field
	why    string
	cover  *cover
}

// how is how an item comes to its place, and what its source is.
type how uint8

const (
	itemShown  how = iota // a path of the host
	itemRooted            // the base: the host's root, or an empty one
	itemOwned             // the sandbox's own: a part of the scratch tmpfs
	itemAnew              // a directory of the host's anew, but for some of its names
	itemFresh             // a tmpfs
	itemProc              // the pid namespace's own
	itemLaid              // a file of the sandbox's own, from another path inside
	// By these the source is the path of the host that shows there: where the host replaces
	// it the mount falls off, and is mounted again. "" for none.
	itemMasked // an empty file or directory
	itemClosed // what is there, read-only with all that is mounted in it
	itemPinned // what is there: it cannot be renamed
	// The View does not tell of the rest.
	itemSealed   // what is there, but for what is mounted in it: read-only
	itemDevpts   // terminals of the sandbox's own
	itemMade     // an empty file or directory, in a directory of the sandbox's own
	itemGone     // a name that is hidden, in the layer of an overlay
	itemLinked   // a link; its text
	itemWritten  // a file; its content
	itemCopied   // a copy of a file of the host
	itemSaved    // nothing, yet: a clone of what stands at a path is taken
	itemRead     // nothing, yet: a file of the host is opened
	itemScratch  // the tmpfs that the sandbox's own is of
	itemDetached // no mount event goes in or out
)

// add lays an item over those before it.
func (b *layers) add(i item) {
	if i.how == itemOwned || i.how == itemFresh || i.how == itemProc {
		i.kind = Dir
		if i.how == itemFresh || i.slot != 0 { // empty, whatever was made there before
			for path := range b.there {
				if under(path, i.path) {
					delete(b.there, path)
				}
			}
		}
		b.there[i.path] = true
	}
	b.items = append(b.items, i)
	if i.how <= itemPinned && !i.part {
		b.lay(&i)
	}
}

// lay puts an item into the View.
func (b *places) lay(i *item) {
	f := i.field
	l := view.Layer{Path: i.path, Grant: view.Grant{Because: view.Cause{Why: i.why}}}
	switch i.how {
	case itemMasked:
		l.Access = view.Hidden
	case itemClosed:
		l.Kind, l.Protected = view.Close, f == FieldProtected
	case itemAnew:
		b.layCover(i.cover)
		return
	case itemPinned:
		return
	default:
		if i.how == itemRooted && i.source == "" {
			break
		}
		if f == "" && b.r.AccessMode != spec.AccessUnset { // the working directory
			f = "access_mode"
		}
		l.Access, l.File, l.Because.Why = view.Write, i.kind != Dir, b.r.PresetWhy(f)
		if i.how == itemShown || i.how == itemRooted {
			l.Source = i.source
		}
		if i.mode == ModeRO || i.mode == ModeKeep && l.Source != "" && b.restricted() {
			l.Access = view.Read
		}
	}
	l.Because.Field = string(f)
	b.view = b.view.With(l)
}

// make lays what the new tree lacks at its path, and the directories down to that: in an
// empty root, or in a private directory.
func (b *layers) make(i item) {
	if i.path == "/" || b.there[i.path] || i.how == itemMade && b.view.At(i.path).Source != "" {
		return
	}
	b.folder(parent(i.path), 0o755)
	b.there[i.path] = true
	b.add(i)
}

func (b *layers) folder(path string, perm uint32) {
	b.make(item{how: itemMade, path: path, kind: Dir, perm: perm})
}

func (b *layers) symlink(path, target string) {
	b.make(item{how: itemLinked, path: path, source: target})
}

// target makes what a mount of kind k needs to stand at path.
func (b *layers) target(path string, k Kind) {
	perm := uint32(0o644)
	if k == Dir {
		perm = 0o755
	}
	b.make(item{how: itemMade, path: path, kind: k, perm: perm})
}

// place lays an item, and makes what it needs to stand on.
func (b *layers) place(i item) {
	b.target(i.path, i.kind)
	b.add(i)
}

// write makes a file of the sandbox's own.
func (b *layers) write(path, content string, perm uint32) {
	b.add(item{how: itemWritten, path: path, source: content, perm: perm})
}

// closePart makes something of the sandbox's own read-only that the View does not tell
// apart.
func (b *layers) closePart(path string, soft bool, f spec.Field, why string) {
	b.add(item{how: itemClosed, path: path, soft: soft, part: true, field: f, why: why})
}

// pinsAbove makes the directories above an image of a path that could be renamed
// mount points.
func (b *layers) pinsAbove(path, at string) {
	for i := 1; i < len(at); i++ {
		if dir := at[:i]; at[i] == '/' && !b.pinned[dir] && reaches(b.view.At(dir)) && (reaches(b.view.At(parent(dir))) || !b.restricted()) && b.onTop(dir) == b.onTop(parent(dir)) {
			b.pinned[dir] = true
			pin := item{how: itemPinned, path: dir, soft: true, why: "on the way to what must stay"}
			if up := len(at) - len(dir); strings.HasSuffix(path, at[len(dir):]) && up < len(path) {
				pin.source = path[:len(path)-up] // else no directory of the host's own that the image's could be
			}
			b.add(pin)
		}
	}
}

// save takes a clone of what stands at source now, for an item that shows it later, or opens
// it for one that copies it.
func (b *layers) save(i *item, source string) {
	how := itemSaved
	if i.how == itemCopied {
		how = itemRead
	}
	i.slot = b.hold(i.field)
	b.add(item{how: how, slot: i.slot, source: source, mode: i.mode, field: i.field, soft: i.soft})
}

// through covers a directory, makes in it what stays in view of what was there, and lays
// that again.
func (b *layers) through(stays []item, cover func()) {
	for k := range stays {
		b.save(&stays[k], b.in(stays[k].path))
	}
	cover()
	for _, i := range stays {
		b.place(i)
	}
}

// ofPath is a path of the host at its own place.
func ofPath(p spec.Path, m Mode) item {
	return item{path: p.Real, source: p.Real, kind: pathKind(p), mode: m, field: p.Field}
}

// cover is a directory that is laid over because something in it must be hidden
// by name, or must be there to be mounted on. A mount on a file vanishes when
// the host renames another over it, as `git credential-store`, `npm login` and
// `gh auth` do; a name that the directory does not show stays hidden.
type cover struct {
	dir  string
	hide []string // paths relative to dir, with the slash; most are a name
	make []Entry  // mount points that the host lacks, the same
	f    spec.Field
	n    int // by which its parts of the scratch tmpfs are called
	// Where rebuilt is true the directory is put together anew of parts, which are all of
	// it, and seen as mode says; else they are in the layer of an overlay.
	rebuilt bool
	mode    Mode
	perm    uint32
	parts   []item
	// layer is true for the home of an agent, and where writes are learned, as learned
	// tells: it is covered so that it can be written, whether or not anything in it is
	// hidden.
	layer, learned bool
	// homes is true for a directory of which other users' homes are hidden.
	homes bool
}

// layCover is a directory that is covered by one of the sandbox's own with the same
// names, but for those that are hidden: nothing is made or changed in the host's by it.
func (b *places) layCover(c *cover) {
	if c.layer {
		b.view = b.view.With(view.Layer{Path: c.dir, Grant: view.Grant{Access: view.Write, Source: c.dir, Copied: true, Because: view.Cause{Field: string(c.layerField())}}})
	} else {
		below := b.view.At(c.dir).Because
		b.lay(&item{path: c.dir, source: c.dir, kind: Dir, mode: ModeRO, field: spec.Field(below.Field)})
	}
	why := ""
	if c.homes {
		why = defaults.OtherHome
	}
	for _, name := range c.hide {
		b.lay(&item{how: itemMasked, path: c.dir + name, field: c.f, why: why})
	}
}

func pathKind(p spec.Path) Kind {
	if p.IsDir {
		return Dir
	}
	return File
}
