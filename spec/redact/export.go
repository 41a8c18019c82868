package redact

// Tables are the rules as data, for those who follow them in another language.
type Tables struct {
	Mark     string
	MaxScan  int // bytes of an argument that are looked at
	Words    []string
	Keys     []string // words that make a "key" after them a credential
	Harmless []string // last words of names that hold none
	Shapes   []Shape
	Flags    []Flag
}

// Shape is a kind of token: a text that it begins with, and what follows it at least.
type Shape struct {
	Prefix string
	Parts  []Part
}

// Part is N bytes, each of one of the ranges: "09az" is a digit or a small letter.
type Part struct {
	Ranges string
	N      int
}

// Flag is a short flag of one program that takes a credential, be it in the same
// argument too.
type Flag struct {
	Program, Flag string
	Joined        bool
}

// Rules gives the rules.
func Rules() Tables {
	words := func(table []secretWord) []string {
		all := make([]string, len(table))
		for i := range table {
			all[i] = table[i].word
		}
		return all
	}
	t := Tables{Mark: Mark, MaxScan: MaxScan,
		Words: words(secretWords[:]), Keys: words(secretKeys[:]), Harmless: words(harmlessEnds[:])}
	for _, table := range [...][]shape{shapes[:], gitleaks[:]} {
		for _, row := range table {
			of := Shape{Prefix: row.prefix}
			for _, p := range row.parts {
				of.Parts = append(of.Parts, Part{p.set.ranges(), p.n})
			}
			t.Shapes = append(t.Shapes, of)
		}
	}
	for _, f := range shortFlags {
		t.Flags = append(t.Flags, Flag{f.program, f.flag, f.joined})
	}
	return t
}

// State is how far a Scanner has come: the programs that it knows, and whether the
// next argument is a credential: 0 no, 1 unless it is a flag, 2 yes.
func (s *Scanner) State() (programs []string, next int) {
	return s.programs, int(s.hide)
}

// ranges is the set as the ends of its ranges.
func (s *set) ranges() string {
	var b []byte
	for c := byte(0); c < 128; c++ {
		if s.has(c) && (c == 0 || !s.has(c-1)) {
			b = append(b, c)
		}
		if s.has(c) && !s.has(c+1) {
			b = append(b, c)
		}
	}
	return string(b)
}
