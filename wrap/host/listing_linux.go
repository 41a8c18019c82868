package host

import (
	"math"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
)

// maxListing bounds the names of one directory.
const maxListing = 65536

// smallFolder is the size up to which a directory is read at once, as one block of
// ext4; other file systems count names or their bytes.
const smallFolder = 4096

// Listings reads the directories in which something must be hidden by its name: all
// secrets that are no directories, and an agent's home. Probe itself leaves out large
// ones where an overlay may do, which needs no listing: a caller whose overlay
// failed sets h.Overlay or h.Layer to No and calls Listings before it plans again.
func Listings(h *wrap.Host) {
	p := lister{prober: &prober{h: *h}}
	p.listings(nil)
	h.Listing = p.h.Listing
}

// lister reads the names of directories.
type lister struct {
	*prober
	tried []string // directories that list has opened, whatever came of it
}

// listings are of the directories in which something is hidden; in crowded ones many homes
// are, whole.
func (p *lister) listings(crowded []string) {
	for i := range p.h.Secrets {
		s := &p.h.Secrets[i]
		if s.Kind == wrap.Dir && s.Target == "" {
			continue
		}
		dir := parent(s.Path)
		if p.overlayMayWork() && !within(dir, p.h.Home) {
			continue // /etc and its like are always large
		}
		p.list(dir)
	}
	for _, dir := range crowded {
		p.listAll(dir)
	}
	if p.h.HomeReal != "" && (!p.overlayMayWork() || p.h.Layer.State == wrap.No) {
		p.listAll(p.h.HomeReal)
	}
}

func (p *lister) overlayMayWork() bool { return p.h.Overlay.State != wrap.No }

// list reads one directory whole, once, where it is small or nothing else would do.
func (p *lister) list(dir string) {
	if slices.Contains(p.tried, dir) {
		return
	}
	p.tried = append(p.tried, dir)
	p.listUpTo(dir, smallFolder)
}

// listAll reads one directory whole, however large it is.
func (p *lister) listAll(dir string) { p.listUpTo(dir, math.MaxInt64) }

func (p *lister) listUpTo(dir string, size int64) {
	if slices.ContainsFunc(p.h.Listing, func(l wrap.Listing) bool { return l.Dir == dir }) {
		return
	}
	fd, readable, err := openDir(unix.AT_FDCWD, dir)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if !readable || unix.Fstat(fd, &st) != nil {
		return
	}
	if p.overlayMayWork() && st.Size > size {
		return
	}
	l := wrap.Listing{Dir: dir, Mode: st.Mode & 0o7777}
	_ = p.dirs.Each(fd, func(name []byte, dtype byte) bool {
		if len(l.Entries) == maxListing {
			l.Cut = true
			return false
		}
		kind, _ := kindOfEntry(dtype)
		l.Entries = append(l.Entries, wrap.Entry{Name: string(name), Kind: kind})
		return true
	})
	for i := range l.Entries {
		e := &l.Entries[i]
		if e.Kind == wrap.Absent {
			e.Kind = kindIn(fd, e.Name, unix.DT_UNKNOWN)
		}
		if e.Kind == wrap.Symlink {
			e.Target = read.Link(fd, e.Name)
		}
	}
	slices.SortFunc(l.Entries, func(a, b wrap.Entry) int { return strings.Compare(a.Name, b.Name) })
	p.h.Listing = append(p.h.Listing, l)
}
