package guard

import (
	"bytes"
	"encoding/binary"
)

// The layout of an index (gitformat-index(5)).
const (
	indexHeader   = 12
	indexStat     = 40 // length of an entry before its hash
	indexMode     = 24 // offset of the mode in an entry
	indexExtended = 0x4000
	indexLength   = 0x0fff
)

// maxIndex is the size of the largest index file that is read, for about a million files.
// maxIndexes bounds the size of all index files together that do not belong to a repository from
// before the launch.
const (
	maxIndex   = 128 << 20
	maxIndexes = 4 * maxIndex
)

// isIndex reports whether git reads a file that begins with b as an index.
func isIndex(b []byte) bool {
	if len(b) < indexHeader || string(b[:4]) != "DIRC" {
		return false
	}
	version := binary.BigEndian.Uint32(b[4:])
	return version >= 2 && version <= 4
}

// indexLeads reports whether an index lists a path that git itself never puts into one. The index
// does not say which hash it uses (the configuration does), so indexLeads tries both; with the
// wrong one hardly an entry can be read. Git accepts more than the specification allows, and
// indexLeads reads an index as git does.
func indexLeads(b []byte) bool {
	return indexLeadsBy(b, 20) || indexLeadsBy(b, 32)
}

func indexLeadsBy(b []byte, hash int) bool {
	if !isIndex(b) {
		return false
	}
	version, count := binary.BigEndian.Uint32(b[4:]), int(binary.BigEndian.Uint32(b[8:]))
	r := indexReader{b: b, at: indexHeader, hash: hash, version: version}
	end, blocks := indexBlocks(b, hash)
	leads, first := false, 0
	for i := range count {
		if len(blocks) > 0 && i == first { // git reads the blocks of the table in parallel
			leads = leads || blocks[0].at != r.at
			first, blocks = first+blocks[0].entries, blocks[1:]
		}
		name, whole, ok := r.next()
		if !ok {
			return false
		}
		leads = leads || leadsOut(name, whole)
	}
	return leads || end > 0 && end != r.at || len(blocks) > 0
}

// gitlink is the mode of a submodule's entry (S_IFGITLINK).
const gitlink = 0o160000

// maxModules is the number of submodules whose paths are examined.
const maxModules = 10_000

// indexModules returns the paths of the submodules that an index lists, read with either hash.
func indexModules(b []byte) (paths []string) {
	for _, hash := range [...]int{20, 32} {
		if !isIndex(b) {
			return nil
		}
		r := indexReader{b: b, at: indexHeader, hash: hash, version: binary.BigEndian.Uint32(b[4:])}
		for range binary.BigEndian.Uint32(b[8:]) {
			mode := r.at + indexMode
			if _, _, ok := r.next(); !ok {
				break
			}
			if binary.BigEndian.Uint32(b[mode:]) == gitlink && !leadsOut(r.name, true) && len(paths) < maxModules {
				paths = append(paths, string(r.name))
			}
		}
	}
	return paths
}

// indexReader reads the entries of an index in order.
type indexReader struct {
	b        []byte
	at, hash int
	version  uint32
	name     []byte // of the last entry
}

// next reads an entry and returns the path that git would write, valid until the following call. If
// whole is false, name is only the end of that path: version 4 shares the beginning with the last
// entry, and a command could make both long and the entries many.
func (r *indexReader) next() (name []byte, whole, ok bool) {
	fixed := indexStat + r.hash + 2
	if len(r.b)-r.at < fixed+2 {
		return nil, false, false
	}
	flags := binary.BigEndian.Uint16(r.b[r.at+fixed-2:])
	if r.version >= 3 && flags&indexExtended != 0 {
		fixed += 2
	}
	next, kept := r.at+fixed, 0
	if r.version == 4 {
		drop, n := indexVarint(r.b[next:])
		if n == 0 || drop > uint64(len(r.name)) {
			return nil, false, false
		}
		next, kept = next+n, len(r.name)-int(drop)
	}
	length := int(flags&indexLength) - kept
	if flags&indexLength == indexLength {
		length = bytes.IndexByte(r.b[next:], 0)
	}
	if length < 0 || length >= len(r.b)-next {
		return nil, false, false
	}
	r.name = append(r.name[:kept], r.b[next:next+length]...)
	if r.at = next + length + 1; r.version < 4 {
		r.at = next - fixed + (fixed+length+8)&^7
	}
	if r.at > len(r.b) {
		return nil, false, false
	}
	from := kept
	for from > 0 && kept-from <= len(".git") && r.name[from-1] != '/' {
		from-- // back to the start of the component, or past the length of any that leads out
	}
	name, _, _ = bytes.Cut(r.name[from:], []byte{0})
	return name, from == 0, true
}

// indexVarint decodes a number in the form of offsets in git's packs, and returns its length, 0
// if there is none.
func indexVarint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 9 {
		c := b[n]
		if n++; n > 1 {
			v++
		}
		if v = v<<7 | uint64(c&0x7f); c&0x80 == 0 {
			return v, n
		}
	}
	return 0, 0
}

// indexBlock is a part of an index that one thread of git reads.
type indexBlock struct{ at, entries int }

// indexBlocks returns the offset at which the extensions of an index begin, from the extension EOIE
// at its end (0 without one), and the table of blocks in the extension IEOT.
func indexBlocks(b []byte, hash int) (end int, blocks []indexBlock) {
	at := len(b) - hash - 12 - hash
	if at < indexHeader || string(b[at:at+4]) != "EOIE" {
		return 0, nil
	}
	end = int(binary.BigEndian.Uint32(b[at+8:]))
	for i := end; i >= indexHeader && i < at; {
		size := int(binary.BigEndian.Uint32(b[i+4:]))
		if size > at-i-8 {
			break
		}
		if string(b[i:i+4]) == "IEOT" && blocks == nil && size >= 4 {
			for table := b[i+12 : i+8+size]; len(table) >= 8; table = table[8:] {
				blocks = append(blocks, indexBlock{int(binary.BigEndian.Uint32(table)), int(binary.BigEndian.Uint32(table[4:]))})
			}
		}
		i += 8 + size
	}
	return end, blocks
}

// leadsOut reports whether a name in an index, used as a path, leads out of the working tree or
// into a git directory.
func leadsOut(name []byte, whole bool) bool {
	for part := range bytes.SplitSeq(name, []byte{'/'}) {
		if string(part) == ".." || len(part) == 4 && bytes.EqualFold(part, []byte(".git")) {
			return true
		}
	}
	return whole && len(name) > 0 && name[0] == '/'
}
