package redact

import "strings"

// DataSource is where a password begins and ends in a word that names a database as
// MySQL's driver for Go takes it: user:password@tcp(host:3306)/name, of any protocol, or
// user:password@/name for a server of this host. Without one both are 0.
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

// addressed is where @protocol(address)/ begins in a word, the last one since a password
// may hold another; 0 for nowhere.
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

// protocolByte tells whether a byte may be part of a protocol's name.
func protocolByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '-'
}

// userEnd is where the colon stands behind a user's name, which begins the word or
// comes behind an equals sign; the word's length for nowhere.
func userEnd(word string) int {
	name := 0
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c == ':' && i > name:
			return i
		case c == '=':
			name = i + 1
		case !tokenByte(c):
			name = len(word) // none before the next sign
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
