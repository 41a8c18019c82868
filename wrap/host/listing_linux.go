package host

import (
	"math"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
)

// maxListing bounds the number of names that are listed in one directory.
const maxListing = 65536

// smallDir is the size up to which a directory is always listed: one block of ext4.
// Other file systems report a number of names or their bytes as the size.
const smallDir = 4096

// Listings lists the directories in which a name must be hidden: those with a secret that
// is not a directory, and an agent's home. Probe leaves out large directories if an overlay
// may hide the name, which needs no listing. A caller whose overlay failed sets h.Overlay
// or h.Layer to No and calls Listings before it builds the next plan.
func Listings(h *wrap.Host) {
	p := lister{prober: &prober{h: *h}}
	p.listings(nil)
	h.Listing = p.h.Listing
}

// lister lists the names in directories.
type lister struct {
	*prober
	tried []string // directories that list has tried, with or without success
}

// listings lists the directories in which something is hidden. Those in crowded contain
// many hidden homes and are listed however large they are.
func (p *lister) listings(crowded []string) {
	for i := range p.h.Secrets {
		s := &p.h.Secrets[i]
		if s.Kind == wrap.Dir && s.Target == "" {
			continue
		}
		dir := parent(s.Path)
		if p.overlayMayWork() && !within(dir, p.h.Home) {
			continue // directories such as /etc are always large
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

// list lists a directory once, if it is small or only a listing can hide its names.
func (p *lister) list(dir string) {
	if slices.Contains(p.tried, dir) {
		return
	}
	p.tried = append(p.tried, dir)
	p.listUpTo(dir, smallDir)
}

// listAll lists a directory of any size.
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
