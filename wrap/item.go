package wrap

import (
	"strings"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// item is a change of the sandbox's tree at a path inside. The View, the mount operations and the
// steps for other tools are all made from the same list of items, in which a later item lies over
// an earlier one. So the View and the mounts cannot disagree.
type item struct {
	how    how
	kind   Kind
	mode   Mode
	soft   bool // a source that has vanished is not an error
	part   bool // a part of something that is laid as a whole, as /proc is; the View does not have it
	perm   uint32
	slot   int // of the source's clone or descriptor; or which empty directory; or the number of terminals or bytes
	path   string
	source string // its meaning depends on how
	field  spec.Field
	why    string
	cover  *cover
}

// how is the way in which an item changes its path. It says what source is.
type how uint8

const (
	itemShown  how = iota // a path of the host
	itemRooted            // the base: the host's root, or an empty one
	itemOwned             // a directory of the sandbox's own: a part of the scratch tmpfs
	itemAnew              // a directory of the host rebuilt without some of its names
	itemFresh             // a tmpfs
	itemProc              // the pid namespace's own /proc
	itemLaid              // a file of the sandbox's own, bound from another path inside
	// For these, source is the path of the host that shows there; "" for none. If the host replaces
	// that file, the mount is lost and is mounted again.
	itemMasked // an empty file or directory
	itemClosed // the present content, read-only with everything mounted in it
	itemPinned // the present content, as a mount point that cannot be renamed
	// The View does not contain the following.
	itemSealed   // the present content, read-only except for mounts in it
	itemDevpts   // a devpts of the sandbox's own
	itemMade     // an empty file or directory, in a directory of the sandbox's own
	itemGone     // a name hidden in the layer of an overlay
	itemLinked   // a link; source is its text
	itemWritten  // a file; source is its content
	itemCopied   // a copy of a file of the host
	itemSaved    // shows nothing: takes a clone of a path for a later item
	itemRead     // shows nothing: opens a file of the host for a later item
	itemScratch  // the tmpfs whose parts are the sandbox's own directories
	itemDetached // cuts off mount events in both directions
)

// add lays an item over the ones before it.
func (b *layers) add(i item) {
	if i.how == itemOwned || i.how == itemFresh || i.how == itemProc {
		i.kind = Dir
		if i.how == itemFresh || i.slot != 0 { // it is empty, whatever was made there before
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

// makeMissing lays an item whose path does not exist yet in the new tree, with the directories that
// lead to it: in an empty root, or in a private directory.
func (b *layers) makeMissing(i item) {
	if i.path == "/" || b.there[i.path] || i.how == itemMade && b.view.At(i.path).Source != "" {
		return
	}
	b.mkdir(parent(i.path), 0o755)
	b.there[i.path] = true
	b.add(i)
}

// mkdir makes a directory of the sandbox's own, and those that lead to it.
func (b *layers) mkdir(path string, perm uint32) {
	b.makeMissing(item{how: itemMade, path: path, kind: Dir, perm: perm})
}

func (b *layers) symlink(path, target string) {
	b.makeMissing(item{how: itemLinked, path: path, source: target})
}

// target makes the file or directory on which a mount of kind k at path is mounted.
func (b *layers) target(path string, k Kind) {
	perm := uint32(0o644)
	if k == Dir {
		perm = 0o755
	}
	b.makeMissing(item{how: itemMade, path: path, kind: k, perm: perm})
}

// place lays an item and makes what it is mounted on.
func (b *layers) place(i item) {
	b.target(i.path, i.kind)
	b.add(i)
}

// write makes a file of the sandbox's own.
func (b *layers) write(path, content string, perm uint32) {
	b.add(item{how: itemWritten, path: path, source: content, perm: perm})
}

// closePart makes a part of the sandbox's own tree read-only that the View does not distinguish.
func (b *layers) closePart(path string, soft bool, f spec.Field, why string) {
	b.add(item{how: itemClosed, path: path, soft: soft, part: true, field: f, why: why})
}

// pinsAbove makes mount points of the directories above an image of a path that the command could
// rename.
func (b *layers) pinsAbove(path, at string) {
	for i := 1; i < len(at); i++ {
		if dir := at[:i]; at[i] == '/' && !b.pinned[dir] && reaches(b.view.At(dir)) && (reaches(b.view.At(parent(dir))) || !b.restricted()) && b.onTop(dir) == b.onTop(parent(dir)) {
			b.pinned[dir] = true
			pin := item{how: itemPinned, path: dir, soft: true, why: "on the way to what must stay"}
			if up := len(at) - len(dir); strings.HasSuffix(path, at[len(dir):]) && up < len(path) {
				pin.source = path[:len(path)-up] // else the image's directory is no directory of the host
			}
			b.add(pin)
		}
	}
}

// save takes a clone of source now, for an item that shows it later, or opens source for an item
// that copies it.
func (b *layers) save(i *item, source string) {
	how := itemSaved
	if i.how == itemCopied {
		how = itemRead
	}
	i.slot = b.hold(i.field)
	b.add(item{how: how, slot: i.slot, source: source, mode: i.mode, field: i.field, soft: i.soft})
}

// coverKeeping covers a directory, and then lays again what stays in view of its present contents.
func (b *layers) coverKeeping(stays []item, cover func()) {
	for k := range stays {
		b.save(&stays[k], b.in(stays[k].path))
	}
	cover()
	for _, i := range stays {
		b.place(i)
	}
}

// ofPath returns the item that shows a path of the host at its own place.
func ofPath(p spec.Path, m Mode) item {
	return item{path: p.Real, source: p.Real, kind: pathKind(p), mode: m, field: p.Field}
}

// cover is a directory that is covered because a name in it must be hidden, or must exist as a
// mount point. A mount on a file is lost when the host renames another file over it, as `git
// credential-store`, `npm login` and `gh auth` do; a name that the cover leaves out stays hidden.
type cover struct {
	dir  string
	hide []string // paths relative to dir, with a leading slash; most are a single name
	make []Entry  // mount points that the host lacks, relative likewise
	f    spec.Field
	n    int // a number that names its parts of the scratch tmpfs
	// rebuilt is true if the directory is rebuilt from parts alone, with the access that mode says.
	// Otherwise parts go into the layer of an overlay.
	rebuilt bool
	mode    Mode
	perm    uint32
	parts   []item
	// layer is true if the directory is covered so that the command can write to it, whether or not
	// a name in it is hidden: for an agent's home, or, with learned, to learn writes.
	layer, learned bool
	// homes is true for a directory in which other users' homes are hidden.
	homes bool
}

// layCover lays a cover into the View. It shows the directory's own names except the hidden ones,
// and writes to it do not reach the host's directory.
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
