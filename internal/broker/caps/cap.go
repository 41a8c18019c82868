package caps

import (
	"path"
	"slices"
	"strings"

	"sbx/internal/reach"
	"sbx/internal/view"
)

// Kind is what a capability is about.
type Kind uint8

// The kinds.
const (
	Read   Kind = iota // fs.read:PATH, and everything below it
	Write              // fs.write:PATH, and everything below it; includes reading
	Net                // net:HOST:PORT
	Exec               // exec:PROGRAM
	Secret             // secret:NAME
)

// IsPath reports whether the capability is for a path.
func (k Kind) IsPath() bool { return k <= Write }

var prefixes = [...]string{Read: "fs.read:", Write: "fs.write:", Net: "net:", Exec: "exec:", Secret: "secret:"}

// Cap is one capability.
type Cap struct {
	Kind  Kind
	Value string         // a path is absolute and clean, and the sandbox's
	To    reach.Endpoint // the endpoint of a Net
}

// String returns the capability as documents write it.
func (c Cap) String() string { return prefixes[c.Kind] + c.Value }

// Parse reads a capability; why says what is wrong with it. Relative paths start at dir;
// .. is not allowed.
func Parse(text, dir string) (c Cap, why string) {
	kind, value, ok := Split(text)
	switch {
	case !ok:
		return c, "want fs.read:PATH, fs.write:PATH, net:HOST:PORT, exec:PROGRAM or secret:NAME"
	case value == "":
		return c, "nothing stands behind " + prefixes[kind]
	case strings.IndexByte(value, 0) >= 0:
		return c, "there is a NUL in it"
	}
	c = Cap{Kind: kind, Value: value}
	switch kind {
	case Read, Write:
		c.Value, why = Clean(value, dir)
	case Net:
		e, err := reach.Parse(value)
		if err != nil {
			return c, err.Error()
		}
		c.To = e
	}
	return c, why
}

// Split returns the kind of a capability and the text after its prefix.
func Split(text string) (k Kind, value string, ok bool) {
	for k, prefix := range prefixes {
		if value, ok := strings.CutPrefix(text, prefix); ok {
			return Kind(k), value, true
		}
	}
	return 0, "", false
}

// Clean returns a path of the sandbox as absolute and clean; why says what is wrong with
// it.
func Clean(p, dir string) (clean, why string) {
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return "", "a path may not have .. in it"
		}
	}
	if p == "" || strings.IndexByte(p, 0) >= 0 {
		return "", "want a path"
	}
	if p[0] != '/' {
		p = dir + "/" + p
	}
	return path.Clean(p), ""
}

// Covers reports whether c allows everything that other allows.
func (c Cap) Covers(other Cap) bool {
	switch c.Kind {
	case Read:
		return other.Kind == Read && view.Within(other.Value, c.Value)
	case Write:
		return other.Kind <= Write && view.Within(other.Value, c.Value)
	case Net:
		return other.Kind == Net && c.To.Covers(other.To)
	}
	return c.Kind == other.Kind && c.Value == other.Value
}

// Covered reports whether one capability of the list covers c.
func Covered(c Cap, by []Cap) bool {
	return slices.ContainsFunc(by, func(b Cap) bool { return b.Covers(c) })
}

// Texts returns the capabilities as documents write them.
func Texts(list []Cap) []string {
	all := make([]string, len(list))
	for i := range list {
		all[i] = list[i].String()
	}
	return all
}
