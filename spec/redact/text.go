package redact

import (
	"slices"
	"strings"
)

// redactScheme hides the credential after the name of an HTTP authentication scheme.
func redactScheme(s, scheme string) string {
	from := 0
	for {
		i := indexFold(s[from:], scheme)
		if i < 0 {
			return s
		}
		at := from + i
		from = at + len(scheme)
		if at > 0 && tokenByte(s[at-1]) {
			continue
		}
		end := from
		for end < len(s) && !strings.ContainsRune(" \t\r\n\"'`,;", rune(s[end])) {
			end++
		}
		if word := s[from:end]; strings.ContainsAny(word, "0123456789=") && len(word) >= 6 || len(word) >= 20 {
			s = s[:from] + Mark + s[end:]
			from += len(Mark)
		}
	}
}

// indexFold is strings.Index for a lower-case ASCII word, ignoring the case of s.
func indexFold(s, word string) int {
	for i := 0; i+len(word) <= len(s); i++ {
		j := 0
		for j < len(word) {
			c := s[i+j]
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != word[j] {
				break
			}
			j++
		}
		if j == len(word) {
			return i
		}
	}
	return -1
}

// redactURLs hides the password in scheme://user:password@host, and a user that is long enough to
// be a token itself.
func redactURLs(s string) string {
	from := 0
	for {
		i := strings.Index(s[from:], "://")
		if i < 0 {
			return s
		}
		from += i + 3
		end := from
		for end < len(s) && !strings.ContainsRune("/?# \t\r\n\"'<", rune(s[end])) {
			end++
		}
		// The last @ ends the password, which may contain one.
		at := strings.LastIndexByte(s[from:end], '@')
		if at < 0 {
			// A password may also contain a slash, which no URL should.
			continue
		}
		user, pass, has := strings.Cut(s[from:from+at], ":")
		switch {
		case has && pass != "" && pass != Mark:
			s = s[:from] + user + ":" + Mark + s[from+at:]
		case !has && len(user) >= 16 && user != Mark:
			s = s[:from] + Mark + s[from+at:]
		}
	}
}

// tokenByte reports whether a byte may be part of a token or a name.
func tokenByte(c byte) bool { return tokens.has(c) }

// redactTokens hides tokens with a known prefix, at the beginning of a run of token characters or
// after a dot in one.
func redactTokens(s string) string {
	for i := 0; len(s)-i >= shortestToken; i++ {
		if !tokenByte(s[i]) || i > 0 && tokenByte(s[i-1]) && s[i-1] != '.' {
			continue
		}
		if end := endOfToken(s, i); end > i {
			s = s[:i] + Mark + s[end:]
			i += len(Mark) - 1
		}
	}
	return s
}

// endOfToken returns the end of the token that begins at i; i if there is none.
func endOfToken(s string, i int) int {
	end := i
	for _, table := range [...][]shape{shapes[:], gitleaks[:]} {
		for _, t := range beginningWith(table, s[i]) {
			end = max(end, i+t.match(s[i:]))
		}
	}
	return end
}

// beginningWith returns the rows of a sorted table whose prefix begins with c.
func beginningWith(table []shape, c byte) []shape {
	from, _ := slices.BinarySearchFunc(table, c, func(t shape, c byte) int { return int(t.prefix[0]) - int(c) })
	to := from
	for to < len(table) && table[to].prefix[0] == c {
		to++
	}
	return table[from:to]
}

// match returns the length of the token at the beginning of s; 0 for none.
func (t *shape) match(s string) int {
	if !strings.HasPrefix(s, t.prefix) {
		return 0
	}
	n, last := len(t.prefix), &tokens
	for _, p := range t.parts {
		for end := n + p.n; n < end; n++ {
			if n >= len(s) || !p.set.has(s[n]) {
				return 0
			}
		}
		last = p.set
	}
	for n < len(s) && (last.has(s[n]) || tokenByte(s[n])) {
		n++
	}
	return n
}

// redactPairs hides the values of secret keys within a text: TOKEN=x, ?token=x, "password": "x",
// X-Api-Key: x.
func redactPairs(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] != '=' && s[i] != ':' {
			continue
		}
		key, quoted := keyBefore(s, i)
		if key == "" || !secretName(key) {
			continue
		}
		from, end := valueAfter(s, i, quoted)
		if end > from && !strings.HasPrefix(s[from:], Mark) {
			s = s[:from] + Mark + s[end:]
		}
		if end > from {
			i = from + len(Mark) - 1
		}
	}
	return s
}

// keyBefore returns the name that ends before the sign at i.
func keyBefore(s string, i int) (key string, quoted bool) {
	end := i
	for end > 0 && s[end-1] == ' ' {
		end--
	}
	for end > 0 && (s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '\\') {
		end--
		quoted = true
	}
	from := end
	for from > 0 && end-from < 200 && tokenByte(s[from-1]) {
		from--
	}
	return s[from:end], quoted
}

// valueAfter returns where the value after the sign at i begins and ends. A header's value ends
// with its line, a quoted one at its quote.
func valueAfter(s string, i int, quotedKey bool) (from, end int) {
	from = i + 1
	for from < len(s) && (s[from] == ' ' || s[from] == '\t') {
		from++
	}
	for from < len(s) && s[from] == '\\' {
		from++
	}
	if from < len(s) && (s[from] == '"' || s[from] == '\'') {
		q := s[from]
		from++
		end = from
		for end < len(s) && s[end] != q {
			if s[end] == '\\' && end+1 < len(s) {
				end++
			}
			end++
		}
		return from, min(end, len(s))
	}
	stop := "\r\n\"'"
	if s[i] == '=' || quotedKey {
		stop = " \t\r\n\"'`&;,)}"
	}
	end = from
	for end < len(s) && !strings.ContainsRune(stop, rune(s[end])) {
		end++
	}
	return from, end
}
