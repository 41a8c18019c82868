package redact

import "strings"

// DataSource returns where a password begins and ends in a word that names a database in the form
// of MySQL's driver for Go: user:password@tcp(host:3306)/name, with any protocol, or
// user:password@/name for a server on this host. Both are 0 if there is none.
func DataSource(word string) (from, to int) {
	if to = addressed(word); to > 0 {
		for from < to && (word[from] != ':' || strings.HasPrefix(word[from:], "://")) {
			from++
		}
	} else if to = strings.IndexByte(word, '/') - 1; to > 0 && word[to] == '@' {
		from = userEnd(word[:to])
	} else {
		return 0, 0
	}
	if from++; from < to {
		return from, to
	}
	return 0, 0
}

// addressed returns where @protocol(address)/ begins in a word; 0 for nowhere. It looks for the
// last one, because the password may contain another.
func addressed(word string) (at int) {
	for from := 0; ; {
		n := strings.Index(word[from:], ")/")
		if n < 0 {
			return at
		}
		before := word[from : from+n]
		if open := strings.LastIndexAny(before, "()"); open > 0 && before[open] == '(' {
			i := open
			for i > 0 && protocolByte(before[i-1]) {
				i--
			}
			if i < open && i > 0 && before[i-1] == '@' {
				at = from + i - 1
			}
		}
		from += n + len(")/")
	}
}

// protocolByte reports whether a byte may be part of a protocol's name.
func protocolByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '-'
}

// userEnd returns the position of the colon after a user's name, which begins the word or follows
// an equals sign; the word's length if there is none.
func userEnd(word string) int {
	name := 0
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c == ':' && i > name:
			return i
		case c == '=':
			name = i + 1
		case !tokenByte(c):
			name = len(word) // no name before the next equals sign
		}
	}
	return len(word)
}

// redactSources hides the passwords of data sources.
func redactSources(s string) string {
	for from := 0; from < len(s); {
		end := len(s)
		if n := strings.IndexAny(s[from:], " \t\r\n\"'`<>\\"); n >= 0 {
			end = from + n
		}
		if at, to := DataSource(s[from:end]); to > 0 {
			s = s[:from+at] + Mark + s[from+to:]
			end += len(Mark) - (to - at)
		}
		from = end + 1
	}
	return s
}
