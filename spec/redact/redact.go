package redact

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Args returns the arguments of a command with each likely credential replaced by Mark, and the
// flag or key before it kept. In doubt it hides, since an argument that shows too little is no
// leak. It knows names, not values: it does not hide a password under a name that says nothing.
func Args(argv []string) []string {
	var s Scanner
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = s.Next(a)
	}
	return out
}

// Scanner does the work of Args one argument at a time.
type Scanner struct {
	programs programs
	hide     hide // how to treat the next argument
}

// programs are the programs of shortFlags seen so far, each once. Their flags still count after
// many other arguments, because a sandbox puts its own arguments before the command's.
type programs []string

func (p programs) with(arg string) programs {
	if strings.HasPrefix(arg, "-") {
		return p
	}
	name := arg[strings.LastIndexByte(arg, '/')+1:]
	if slices.Contains(p, name) || !slices.ContainsFunc(shortFlags[:], func(f shortFlag) bool { return f.program == name }) {
		return p
	}
	return append(p, name)
}

// Next returns the next argument as Args does.
func (s *Scanner) Next(a string) string {
	if s.hide == hideAlways || s.hide == hideUnlessFlag && !strings.HasPrefix(a, "--") {
		s.hide = hideNothing
		return Mark
	}
	out, hide := redactArg(a, s.programs)
	s.hide = hide
	s.programs = s.programs.with(a)
	return out
}

// Fork returns a Scanner that continues from here by itself, so that arguments which are always the
// same are scanned only once.
func (s *Scanner) Fork() Scanner {
	f := *s
	f.programs = f.programs[:len(f.programs):len(f.programs)]
	return f
}

// hide is what an argument means for the one after it.
type hide uint8

const (
	hideNothing hide = iota
	hideUnlessFlag
	hideAlways
)

// MaxScan is how many bytes of an argument are examined. Callers that store arguments store fewer.
const MaxScan = 8 << 10

// redactArg returns an argument without credentials, and how to treat the next one.
func redactArg(a string, named programs) (string, hide) {
	if len(a) > MaxScan {
		// The cut must not leave half a token, which no rule would recognise.
		end := MaxScan
		for end > 0 && !utf8.RuneStart(a[end]) { // nor half a character
			end--
		}
		a = a[:end]
		for len(a) > 0 && tokenByte(a[len(a)-1]) {
			a = a[:len(a)-1]
		}
		a += "…"
	}
	if flag, joined, ok := shortOf(a, named); ok {
		if joined {
			return flag + Mark, hideNothing
		}
		return a, hideAlways
	}
	name, value, has := strings.Cut(a, "=")
	flag := !has && strings.HasPrefix(name, "-")
	if (flag || value != "") && !strings.ContainsAny(name, " \t\n\"'/?&") && secretName(name) {
		if flag {
			return a, hideUnlessFlag
		}
		return name + "=" + Mark, hideNothing
	}
	return Text(a), hideNothing
}

// shortOf finds a short flag of one of the programs in named.
func shortOf(a string, named programs) (flag string, joined, ok bool) {
	if len(a) < 2 || a[0] != '-' {
		return "", false, false
	}
	for _, p := range named {
		for i := range shortFlags {
			f := &shortFlags[i]
			if f.program != p || !strings.HasPrefix(a, f.flag) {
				continue
			}
			if a == f.flag && !(f.flag == "-p" && f.joined) {
				return f.flag, false, true
			}
			if a == f.flag && p == "sshpass" {
				return f.flag, false, true
			}
			if a != f.flag && f.joined {
				return f.flag, true, true
			}
		}
	}
	return "", false, false
}

// secretName reports whether a flag, variable or key names a credential.
func secretName(name string) bool {
	name = strings.TrimLeft(name, "-")
	if name == "" || len(name) > 200 || strings.HasPrefix(name, "no-") {
		return false
	}
	var parts [16]string
	n := nameParts(name, parts[:])
	if n == 1 && parts[0] == "pwd" || n == 0 || has(harmlessEnds[:], parts[n-1]) && n > 1 {
		return false
	}
	for i := 0; i < n; i++ {
		if has(secretWords[:], parts[i]) {
			return true
		}
		if i > 0 && (parts[i] == "key" || parts[i] == "keys") && has(secretKeys[:], parts[i-1]) {
			return true
		}
	}
	return false
}

func has(table []secretWord, word string) bool {
	for i := range table {
		if table[i].word == word {
			return true
		}
	}
	return false
}

// nameParts splits a name into lower-case words, at punctuation and before a capital that follows a
// small letter.
func nameParts(name string, parts []string) int {
	n, from := 0, 0
	cut := func(to int) {
		if to > from && n < len(parts) {
			parts[n] = strings.ToLower(name[from:to])
			n++
		}
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
		switch {
		case !letter:
			cut(i)
			from = i + 1
		case i > from && c >= 'A' && c <= 'Z' && name[i-1] >= 'a' && name[i-1] <= 'z':
			cut(i)
			from = i
		}
	}
	cut(len(name))
	return n
}

// Text hides credentials inside a longer text: headers, URLs, tokens with a known prefix, and
// KEY=value or "key": "value" in scripts and JSON.
func Text(s string) string {
	blanks := strings.IndexByte(s, ' ') >= 0
	if blanks && strings.Contains(s, "PRIVATE KEY-----") {
		return Mark
	}
	if blanks {
		s = redactScheme(s, "bearer ")
		s = redactScheme(s, "basic ")
	}
	s = redactPairs(s)
	s = redactURLs(s)
	s = redactSources(s)
	s = redactTokens(s)
	return redactWords(s)
}

// redactWords treats the words of a text as the arguments of a command: sh -c "mysql -pSECRET".
func redactWords(s string) string {
	if !strings.ContainsAny(s, " \t\n") {
		return s
	}
	var b strings.Builder
	var named programs
	hide := hideNothing
	for len(s) > 0 {
		i := strings.IndexAny(s, " \t\n")
		if i == 0 {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		if i < 0 {
			i = len(s)
		}
		word := s[:i]
		s = s[i:]
		if hide == hideAlways || hide == hideUnlessFlag && !strings.HasPrefix(word, "--") {
			b.WriteString(Mark)
			hide = hideNothing
			continue
		}
		bare := strings.Trim(word, `"'`)
		if flag, joined, ok := shortOf(bare, named); ok && joined {
			word = flag + Mark
		} else if ok {
			hide = hideAlways
		} else if strings.HasPrefix(bare, "-") && !strings.Contains(bare, "=") && secretName(bare) {
			hide = hideUnlessFlag
		}
		named = named.with(bare)
		b.WriteString(word)
	}
	return b.String()
}
