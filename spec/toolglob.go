package spec

import (
	"slices"
	"strings"
)

// A pattern is compiled to globs: lists of characters and stars, one of which must match a whole text.
// Whether one glob covers another is decided by matching the other glob as a text, in which its stars
// are characters that equal no literal: since a star may stand for a character that occurs in neither
// pattern, only a star can cover it.

// The marks are above Unicode's last character.
const (
	starAll rune = 0x110000 + iota // any characters
	starSegment
	oneOf // ?
)

type glob []rune

type globs []glob

func (gs globs) matches(text string) bool {
	r := []rune(text)
	return slices.ContainsFunc(gs, func(g glob) bool { return g.match(r) })
}

// cover reports whether each of others is covered by one of gs.
func (gs globs) cover(others globs) bool {
	for _, other := range others {
		covered := false
		for _, g := range gs {
			covered = covered || g.match(other)
		}
		if !covered {
			return false
		}
	}
	return true
}

// match reads the text and keeps track of all positions in the glob that are possible so far.
func (g glob) match(text []rune) bool {
	here, next := make([]bool, len(g)+1), make([]bool, len(g)+1)
	g.reach(here, 0)
	for _, c := range text {
		clear(next)
		some := false
		for i, at := range here[:len(g)] {
			if !at || !takes(g[i], c) {
				continue
			}
			some = true
			if g[i] == starAll || g[i] == starSegment {
				g.reach(next, i)
			} else {
				g.reach(next, i+1)
			}
		}
		if !some {
			return false
		}
		here, next = next, here
	}
	return here[len(g)]
}

// reach marks position i, and the positions after stars that may match nothing.
func (g glob) reach(at []bool, i int) {
	for at[i] = true; i < len(g) && (g[i] == starAll || g[i] == starSegment); {
		i++
		at[i] = true
	}
}

// takes reports whether a piece of a glob matches the character c, which is a star if the text is
// another glob.
func takes(piece, c rune) bool {
	switch piece {
	case starAll:
		return true
	case starSegment:
		return c != '/' && c != starAll
	case oneOf:
		return c != '/' && c != starAll && c != starSegment
	}
	return piece == c
}

// globs returns the globs of the rule.
func (t Tool) globs(at Place) globs {
	switch t.kind() {
	case shellTarget:
		return commandGlobs(t.Rule)
	case fileTarget:
		return pathGlobs(t.Rule, at)
	case urlTarget:
		return wild(strings.ToLower(t.Rule))
	}
	return wild(t.Rule)
}

// wild returns the globs of a text in which * stands for any characters.
func wild(s string) globs {
	var g glob
	for _, c := range s {
		if c == '*' {
			c = starAll
		}
		g = append(g, c)
	}
	return globs{g}
}

// commandGlobs returns the globs of a rule for commands.
func commandGlobs(rule string) globs {
	rule = strings.Join(strings.Fields(rule), " ")
	if prefix, ok := strings.CutSuffix(rule, ":*"); ok && prefix != "" {
		return globs{glob(prefix), append(glob(prefix), ' ', starAll)}
	}
	var g glob
	stars := 0
	for i, r := 0, []rune(rule); i < len(r); i++ {
		c := r[i]
		switch {
		case c == '\\' && i+1 < len(r) && (r[i+1] == '*' || r[i+1] == '\\'):
			i++
			c = r[i]
		case c == '*':
			c = starAll
			stars++
		}
		g = append(g, c)
	}
	if n := len(g); stars == 1 && n > 2 && g[n-1] == starAll && g[n-2] == ' ' {
		return globs{g, g[: n-2 : n-2]}
	}
	return globs{g}
}

// maxForks is the number of "**/" in a path that stand for any number of directories. Each further
// one stands for at least one directory.
const maxForks = 4

// pathGlobs returns the globs of a rule for files.
func pathGlobs(rule string, at Place) globs {
	pattern := strings.TrimSuffix(rule, "/")
	switch {
	case strings.HasPrefix(rule, "//"):
		pattern = pattern[1:]
	case rule == "~" || strings.HasPrefix(rule, "~/"):
		pattern = at.Home + pattern[1:]
	case strings.HasPrefix(rule, "/"):
		pattern = at.Dir + pattern
	case strings.HasPrefix(rule, "./"):
		pattern = at.Dir + pattern[1:]
	case strings.Contains(pattern, "/"):
		pattern = at.Dir + "/" + pattern
	default:
		pattern = at.Dir + "/**/" + pattern
	}
	all := globs{nil}
	forks := 0
	for i, r := 0, []rune(pattern); i < len(r); i++ {
		fork := false
		c := r[i]
		switch {
		case c == '*' && i+1 < len(r) && r[i+1] == '*':
			c = starAll
			i++
			if i+1 < len(r) && r[i+1] == '/' && forks < maxForks {
				forks++
				fork = true
				i++
			}
		case c == '*':
			c = starSegment
		case c == '?':
			c = oneOf
		}
		for j := range all {
			if fork {
				all = append(all, append(glob(nil), all[j]...))
				all[j] = append(all[j], starAll, '/')
				continue
			}
			all[j] = append(all[j], c)
		}
	}
	for _, g := range all { // and the paths under them
		all = append(all, append(append(glob(nil), g...), '/', starAll))
	}
	return all
}
