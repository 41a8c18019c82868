package redact

// Tables has the rules as data, for an implementation in another language.
type Tables struct {
	Mark     string
	MaxScan  int // how many bytes of an argument are examined
	Words    []string
	Keys     []string // words that make a following "key" a credential
	Harmless []string // last words of names that are no credentials
	Shapes   []Shape
	Flags    []Flag
}

// Shape is a kind of token: a prefix, and the least that follows it.
type Shape struct {
	Prefix string
	Parts  []Part
}

// Part is N bytes, each in one of the ranges: "09az" is a digit or a small letter.
type Part struct {
	Ranges string
	N      int
}

// Flag is a short flag of one program that takes a credential. With Joined the credential may stand
// in the same argument.
type Flag struct {
	Program, Flag string
	Joined        bool
}

// Rules returns the rules.
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

// State returns the state of a Scanner: the programs that it has seen, and whether the next
// argument is a credential: 0 no, 1 unless it is a flag, 2 yes.
func (s *Scanner) State() (programs []string, next int) {
	return s.programs, int(s.hide)
}

// ranges returns the set as the ends of its ranges.
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
