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

// Shape is a kind of token: how it begins, and how many further characters it
// has at least.
type Shape struct {
	Prefix string
	Least  int
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
	for _, s := range tokenShapes {
		t.Shapes = append(t.Shapes, Shape{s.prefix, s.least})
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
