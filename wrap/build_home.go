package wrap

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/spec"
)

// tmpfsKernel is the first kernel whose tmpfs has the attributes by which an overlay marks a
// directory as new, not a copy of a lower one.
var tmpfsKernel = Version{6, 6}

// maxRebuilt is the greatest number of names of which a home is rebuilt.
const maxRebuilt = 1024

// layHome decides how the sandbox shows a known agent its home. Agents replace files there by
// rename, so the directory has to be writable; their writes go to a layer that ends with the
// sandbox.
func (b *homeLayer) layHome() {
	if !b.r.HomeLayer {
		return
	}
	home := b.h.HomeReal
	without := func(why string) { b.fault(FieldHome, Degraded, "the agent's home is not a layer of its own: "+why) }
	switch {
	case home == "":
		without(b.r.Home + " is not a directory")
	case home == "/":
		without("it is /")
	case b.isHidden(home):
		without("filesystem.hide hides it")
	case b.onTop(home) >= 0:
		without("a mount shows there")
	case b.inWritable(home):
		without(home + " itself may be written, and what is written there stays")
	case b.readOnlyTree(home):
		without(home + " is the working directory, or lies in it, and may only be read")
	case b.prefix != "" && !b.inView(home), b.covered(home):
		b.home = homePrivate
		b.homeCopies(home)
	case b.h.Overlay.State != No && b.h.Layer.State != No:
		b.home = homeOverlay
	default:
		b.rebuildHome(home, without)
	}
	for i := range b.r.Own {
		if o := &b.r.Own[i]; o.Exists && o.Mode != spec.OwnLocked && o.Mode != spec.OwnPrivate && !b.opensOwn(o.Abs) {
			b.fault(FieldHome, Degraded, o.Abs+" is not opened for the agent: it holds the home, or a link leads there that a command may have left")
		}
	}
	if b.home == homePrivate || b.home == homeOverlay {
		b.fault(FieldHome, Enforced, b.homeText())
	}
	if b.home == homeOverlay && b.h.Kernel.Less(tmpfsKernel) {
		b.fault(FieldHome, Enforced, "directories that the host has there cannot be removed (before Linux 6.6)")
	}
}

// rebuildHome rebuilds the home from binds, which works without a writable overlay.
func (b *homeLayer) rebuildHome(home string, without func(why string)) {
	why := b.h.Layer.Why
	if b.h.Overlay.State == No {
		why = b.h.Overlay.Why
	}
	switch list := b.h.listing(home); {
	case list == nil || list.Cut:
		without(why + ", and its names cannot be read")
	case len(list.Entries) > maxRebuilt:
		without(why + ", and it has more than " + itoa(maxRebuilt) + " names")
	default:
		b.home = homeRebuilt
		b.homeCopies(home)
		b.fault(FieldHome, Degraded, b.homeText()+"; what the home has already may only be read, its own state apart: "+why)
	}
}

// readOnlyTree reports whether path is the tree that the command works in, or lies in it. Callers
// ask this about paths that are not writable: such a tree gets no layer, because the command's
// writes would seem to succeed and then be lost.
func (b *homeLayer) readOnlyTree(path string) bool {
	return under(path, b.r.WorkingDir.Real) || b.r.Restricted.Real != "" && under(path, b.r.Restricted.Real)
}

// homeText says what happens at the end to files that the agent wrote in its home.
func (b *homeLayer) homeText() string {
	text := "what the agent writes in its home"
	var own []string
	for i := range b.r.Write {
		if w := &b.r.Write[i]; w.Field == FieldAgent && under(w.Real, b.h.HomeReal) {
			own = append(own, "~"+w.Real[len(b.h.HomeReal):])
		}
	}
	if len(own) > 0 {
		text += " except for " + strings.Join(own, ", ")
	}
	return text + " is its own copy and ends with it"
}

// homeCopies lists the agent's files directly in its home. It gets copies of them, since no file
// can be renamed onto a bound file.
func (b *homeLayer) homeCopies(home string) {
	for i := range b.r.Read {
		p := &b.r.Read[i]
		if p.Field == FieldAgent && !p.IsDir && (parent(p.Abs) == home || parent(p.Abs) == b.r.Home) && b.h.Kind(p.Real) == File && !b.isHidden(p.Real) {
			b.copies = append(b.copies, item{how: itemCopied, path: home + p.Abs[strings.LastIndexByte(p.Abs, '/'):], source: p.Real, perm: 0o600, soft: true, field: FieldHome,
				why: "it is replaced by rename, which a bound file cannot be"})
		}
	}
}

// isCopied reports whether the agent gets a copy of a file instead of the file.
func (b *homeLayer) isCopied(path string) bool {
	return slices.ContainsFunc(b.copies, func(c item) bool { return c.source == path })
}

// writeCopies puts the copies of the agent's files into the private home.
func (b *homeLayer) writeCopies() {
	if len(b.copies) == 0 || b.home != homePrivate {
		return
	}
	b.mkdir(b.h.HomeReal, 0o700)
	for _, c := range b.copies {
		b.add(c)
	}
}

// placeHome makes a private home in an empty root, before any of its contents are shown.
func (b *homeLayer) placeHome() {
	home := b.h.Home
	if b.home == homePrivate { // the agent's own files lie there by their path without links
		home = b.h.HomeReal
	}
	if home == "" || home == "/" || b.inView(home) || b.covered(home) {
		return
	}
	b.mkdir(home, 0o755)
	b.add(item{how: itemOwned, path: home, source: partHome, perm: 0o700, field: FieldPrivate})
	if home != b.h.Home && !b.inView(b.h.Home) {
		b.symlink(b.h.Home, home)
	}
}

// placeOwn binds in the paths that the agent reads where a private directory covers them.
func (b *builder) placeOwn() {
	b.closeRuns()
	if b.home == homeOverlay || b.r.Learn {
		for _, dir := range [...]string{b.r.WorkingDir.Real, b.r.Restricted.Real} { // a write there must fail with an error, not go to a copy
			if dir != "" && !b.inWritable(dir) && !b.isHidden(dir) {
				b.closeInLayer(dir, b.modeField(), "it may only be read")
			}
		}
	}
	for _, i := range b.host.reads {
		b.place(i)
	}
}

// closeRuns makes read-only those directories of the home's layer that commands.allow names. Paths
// in them that the document lets the command write are mounted over them later.
func (b *builder) closeRuns() {
	for _, e := range b.programs.runs {
		if e.Kind != Dir {
			continue
		}
		for _, dir := range b.imagesOf(e.Real) {
			status := Enforced
			if under(b.h.HomeReal, dir) {
				dir, status = b.h.HomeReal, Degraded
			}
			if b.closeInLayer(dir, fieldAllow, "it may be executed, and so not be written") {
				b.fault(FieldHome, status, dir+" may only be read, but for what the spec lets be written there: commands.allow has "+e.Asked)
			}
		}
	}
}

// closeInLayer makes a directory of the layer read-only, with everything mounted in it so far.
func (b *homeLayer) closeInLayer(dir string, f spec.Field, why string) bool {
	if g := b.view.At(dir); g.Access != view.Write || !g.Copied {
		return false
	}
	b.add(item{how: itemClosed, path: dir, soft: true, field: f, why: why})
	return true
}

// ownReads returns the paths that the agent reads and that a private directory of the host's root
// covers. A path that lies in another of them is left out.
func (b *homeLayer) ownReads() (paths []spec.Path) {
	if b.prefix != "" || len(b.r.Own) == 0 {
		return nil
	}
	for _, p := range b.r.Read {
		if p.Field == FieldAgent && b.coveredStrictly(p.Real) && !b.inWritable(p.Real) && !b.isHidden(p.Real) && !b.isCopied(p.Real) {
			paths = append(paths, p)
		}
	}
	slices.SortStableFunc(paths, func(x, y spec.Path) int { return strings.Compare(x.Real, y.Real) })
	top := ""
	return slices.DeleteFunc(paths, func(p spec.Path) bool {
		if top != "" && under(p.Real, top) {
			return true
		}
		top = p.Real
		return false
	})
}

// pinOwn keeps the directories that lead to a file of the agent's own in a private home from being
// renamed: the record names written files by path.
func (b *homeLayer) pinOwn(w *item) {
	if b.home != homePrivate || w.field != FieldAgent {
		return
	}
	for i := len(b.h.HomeReal) + 1; i < len(w.path); i++ {
		dir := w.path[:i]
		if w.path[i] == '/' && under(w.path, b.h.HomeReal) && b.there[dir] && b.view.At(dir).Source == "" && !b.pinned[dir] {
			b.pinned[dir] = true
			b.add(item{how: itemPinned, path: dir, why: "on the way to what the agent writes"})
		}
	}
}

// homeBy returns the mechanism that the home's line in the record names.
func (b *homeLayer) homeBy() string {
	if b.home == homeOverlay {
		return "overlay"
	}
	return "mount namespace"
}

// nestedHome writes the Enforcement of an agent's home inside another sandbox: the outer sandbox
// has decided how the home shows.
func (b *fieldLines) nestedHome() {
	if !b.r.HomeLayer {
		return
	}
	if b.h.HomeReal == "" || !slices.ContainsFunc(b.h.Parent.Private, func(d string) bool { return under(b.h.HomeReal, d) }) {
		b.fault(FieldHome, Degraded, "the agent's home is not a layer of its own: the outer sandbox has none, and nothing can be mounted there")
	}
	b.line(FieldHome, "parent")
}
