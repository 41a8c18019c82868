package main

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// shape is how a token begins: a prefix, then bytes of certain sets.
type shape struct {
	prefix string
	parts  []part
	id     string
	source string // the rule's expression
}

// part is n bytes of a set.
type part struct {
	set set
	n   int
}

// set is a set of ASCII bytes: bit i of the first word is byte i, of the second byte 64+i.
type set [2]uint64

func (s *set) add(c rune) {
	if c < 128 {
		s[c/64] |= 1 << (c % 64)
	}
}

const (
	shortest = 13 // shortest whole token; package redact takes nothing shorter for one
	enough   = 16 // bytes to compare after a prefix with which no word begins
	maxTries = 64 // shapes that one rule may become
)

// shapesOf returns the shapes of a rule whose tokens all begin with a prefix of their own; none if
// some tokens are only recognised by the name before them.
func shapesOf(r rule) ([]shape, error) {
	re, err := syntax.Parse(r.Regex, syntax.Perl)
	if err != nil {
		return nil, err
	}
	var all []shape
	for _, s := range follow([]shape{{id: r.ID, source: r.Regex}}, re).all {
		if len(s.prefix) < 2 || strings.ContainsAny(s.prefix, " <:") { // an element or a URL, whose passwords package redact hides anyway
			return nil, nil
		}
		if s.cut(); s.length() < shortest {
			return nil, nil
		}
		all = append(all, s)
	}
	return all, nil
}

func (s *shape) length() int {
	n := len(s.prefix)
	for _, p := range s.parts {
		n += p.n
	}
	return n
}

// cut shortens a shape to the part that distinguishes it from words: services change the length of
// their tokens, and a truncated token is still a credential.
func (s *shape) cut() {
	if len(s.prefix) < 5 || !strings.ContainsAny(s.prefix, "_-.~") {
		return
	}
	left := max(enough, shortest-len(s.prefix))
	for i := range s.parts {
		if s.parts[i].n >= left {
			s.parts[i].n = left
			s.parts = s.parts[:i+1]
			return
		}
		left -= s.parts[i].n
	}
}

// walk has the shapes with which an expression can begin, as far as it was read. open is true if
// the rest of the expression follows them directly.
type walk struct {
	all  []shape
	open bool
}

// follow adds an expression to each of the shapes.
func follow(from []shape, re *syntax.Regexp) walk {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpBeginText, syntax.OpBeginLine:
		return walk{from, true}
	case syntax.OpCapture:
		return follow(from, re.Sub[0])
	case syntax.OpLiteral:
		return walk{literal(from, re), true}
	case syntax.OpCharClass:
		return walk{class(from, re.Rune), true}
	case syntax.OpAnyCharNotNL: // an unescaped dot in a host's name
		return walk{literal(from, &syntax.Regexp{Rune: []rune{'.'}}), true}
	case syntax.OpConcat:
		return concat(from, re.Sub)
	case syntax.OpAlternate:
		w := walk{open: true}
		for _, sub := range re.Sub {
			if ends(sub) {
				return walk{from, false}
			}
			of := follow(from, sub)
			w.all, w.open = append(w.all, of.all...), w.open && of.open
		}
		if len(w.all) > maxTries {
			return walk{from, false}
		}
		return w
	case syntax.OpQuest:
		with := follow(from, re.Sub[0])
		if isBegun(from) || !with.open {
			return walk{append(clone(from), with.all...), with.open}
		}
		return walk{from, true} // an optional part before the token: a scheme
	case syntax.OpRepeat:
		return repeat(from, re)
	case syntax.OpPlus:
		return walk{follow(from, re.Sub[0]).all, false}
	}
	return walk{from, false}
}

func concat(from []shape, list []*syntax.Regexp) walk {
	w := walk{from, true}
	for _, sub := range list {
		if w = follow(w.all, sub); !w.open {
			return w
		}
	}
	return w
}

func repeat(from []shape, re *syntax.Regexp) walk {
	if re.Min > 0 && !isBegun(from) && re.Sub[0].Op == syntax.OpCharClass {
		return walk{from, false} // may begin with anything
	}
	w := walk{from, true}
	for i := 0; i < re.Min && w.open; i++ {
		w = follow(w.all, re.Sub[0])
	}
	w.open = w.open && re.Max == re.Min
	return w
}

// isBegun reports whether the shapes have a prefix.
func isBegun(all []shape) bool { return len(all) > 0 && all[0].prefix != "" }

// ends reports whether an expression matches the end of a text.
func ends(re *syntax.Regexp) bool {
	if re.Op == syntax.OpEndText || re.Op == syntax.OpEndLine {
		return true
	}
	return slices.ContainsFunc(re.Sub, ends)
}

func clone(from []shape) []shape {
	all := make([]shape, len(from))
	for i, s := range from {
		s.parts = append([]part(nil), s.parts...)
		all[i] = s
	}
	return all
}

// literal adds a text. If the rule ignores case, the text is added as the rule writes it, which is
// the form that the service uses.
func literal(from []shape, re *syntax.Regexp) []shape {
	text := string(re.Rune)
	fold := re.Flags&syntax.FoldCase != 0
	var all []shape
	for _, s := range clone(from) {
		switch {
		case len(s.parts) > 0:
			for _, c := range text {
				s.put(one(c, fold))
			}
			all = append(all, s)
		default:
			if at := strings.Index(strings.ToLower(s.source), strings.ToLower(text)); fold && at >= 0 {
				text = s.source[at : at+len(text)]
			}
			s.prefix += text
			all = append(all, s)
		}
	}
	return all
}

func one(c rune, fold bool) (s set) {
	s.add(c)
	if fold {
		s.add(unicode.ToLower(c))
		s.add(unicode.ToUpper(c))
	}
	return s
}

// class adds a byte of a set: to the prefix, once for each byte, if the set is small.
func class(from []shape, ranges []rune) []shape {
	var of set
	var few []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for c := ranges[i]; c <= ranges[i+1] && c < 128; c++ {
			of.add(c)
			few = append(few, c)
		}
	}
	var all []shape
	for _, s := range clone(from) {
		if len(s.parts) == 0 && len(few) <= 4 && s.prefix != "" {
			for _, c := range few {
				with := s
				with.prefix += string(c)
				all = append(all, with)
			}
			continue
		}
		if s.prefix != "" {
			s.put(of)
		}
		all = append(all, s)
	}
	return all
}

// put appends a byte of a set.
func (s *shape) put(of set) {
	if n := len(s.parts); n > 0 && s.parts[n-1].set == of {
		s.parts[n-1].n++
		return
	}
	s.parts = append(s.parts, part{of, 1})
}
