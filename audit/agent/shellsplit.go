package agent

import "strings"

// shellCommands splits a script into its simple commands. plain is false if the script
// does more than join them by ; & | && || and newlines, so that more may run than is
// listed: it has substitutions, subshells, groups, keywords, here-documents or
// redirections into files. Redirections to /dev/null and between descriptors are ignored
// and left out. White space outside quotes becomes one blank.
func shellCommands(script string) (commands []string, plain bool) {
	s := splitter{in: script, plain: true}
	for s.i < len(s.in) {
		s.step()
	}
	s.end()
	return s.commands, s.plain
}

// keywords begin a compound command, or change the meaning of the next word.
const keywords = " if then elif else fi for while until do done case esac select function time coproc in { } ! [[ ]] "

type splitter struct {
	in       string
	i        int
	cur      []byte
	commands []string
	plain    bool
}

// end ends a command.
func (s *splitter) end() {
	command := strings.TrimSpace(string(s.cur))
	s.cur = s.cur[:0]
	if command == "" {
		return
	}
	first, _, _ := strings.Cut(command, " ")
	if strings.Contains(keywords, " "+first+" ") {
		s.plain = false
	}
	s.commands = append(s.commands, command)
}

func (s *splitter) step() {
	c := s.in[s.i]
	switch c {
	case ' ', '\t':
		s.blank()
		s.i++
	case '\n', ';':
		s.end()
		s.i++
	case '|':
		s.end()
		if s.i++; s.i < len(s.in) && s.in[s.i] == '&' {
			s.i++
		}
	case '&':
		if s.i++; s.i < len(s.in) && s.in[s.i] == '>' {
			s.redirect()
			return
		}
		s.end()
	case '<', '>':
		s.redirect()
	case '(', ')', '`':
		s.plain = false
		s.end()
		s.i++
	case '#':
		if len(s.cur) > 0 && s.cur[len(s.cur)-1] != ' ' {
			s.take(1)
			return
		}
		for s.i < len(s.in) && s.in[s.i] != '\n' {
			s.i++
		}
	case '\\':
		if strings.HasPrefix(s.in[s.i:], "\\\n") {
			s.i += 2
			return
		}
		s.take(2)
	case '$':
		if s.i+1 < len(s.in) && strings.IndexByte("({'\"", s.in[s.i+1]) >= 0 {
			s.plain = false
		}
		s.take(1)
	case '\'':
		end := strings.IndexByte(s.in[s.i+1:], '\'')
		s.closed(end)
		s.take(end + 2)
	case '"':
		s.double()
	default:
		s.take(1)
	}
}

// take appends n bytes to the current command; all that are left if n is less than one.
func (s *splitter) take(n int) {
	if n < 1 || s.i+n > len(s.in) {
		n = len(s.in) - s.i
	}
	s.cur = append(s.cur, s.in[s.i:s.i+n]...)
	s.i += n
}

// closed records that a quote is never closed if at, the index of its end, is -1.
func (s *splitter) closed(at int) {
	if at < 0 {
		s.plain = false
	}
}

func (s *splitter) blank() {
	if len(s.cur) > 0 && s.cur[len(s.cur)-1] != ' ' {
		s.cur = append(s.cur, ' ')
	}
}

// double takes a text in double quotes.
func (s *splitter) double() {
	for j := s.i + 1; j < len(s.in); j++ {
		switch s.in[j] {
		case '"':
			s.take(j + 1 - s.i)
			return
		case '\\':
			j++
		case '`':
			s.plain = false
		case '$':
			if j+1 < len(s.in) && (s.in[j+1] == '(' || s.in[j+1] == '{') {
				s.plain = false
			}
		}
	}
	s.closed(-1)
	s.take(0)
}

// redirect steps over a redirection, and removes a descriptor number right before it.
func (s *splitter) redirect() {
	for n := len(s.cur); n > 0 && s.cur[n-1] >= '0' && s.cur[n-1] <= '9'; n-- {
		if n == 1 || s.cur[n-2] == ' ' {
			s.cur = s.cur[:n-1]
			break
		}
	}
	start := s.i
	for s.i < len(s.in) && strings.IndexByte("<>&|", s.in[s.i]) >= 0 {
		s.i++
	}
	operator := s.in[start:s.i]
	if strings.HasPrefix(s.in[s.i:], "(") {
		s.plain = false // a process substitution
		return
	}
	for s.i < len(s.in) && (s.in[s.i] == ' ' || s.in[s.i] == '\t') {
		s.i++
	}
	from := s.i
	for s.i < len(s.in) && strings.IndexByte(" \t\n;|&<>()`'\"\\$", s.in[s.i]) < 0 {
		s.i++
	}
	word := s.in[from:s.i]
	between := (operator == ">&" || operator == "<&") && word != "" && strings.Trim(word, "0123456789-") == ""
	whole := s.i == len(s.in) || strings.IndexByte(" \t\n;|&)<>", s.in[s.i]) >= 0
	if !whole || !between && (word != "/dev/null" || strings.HasPrefix(operator, "<<")) {
		s.plain = false
	}
	s.blank()
}

// wrappers are programs that run the command in their arguments.
const wrappers = " env command exec builtin nohup nice ionice time timeout sudo doas xargs stdbuf setsid busybox eval "

// maxNested is how many levels of scripts within commands are searched.
const maxNested = 4

// shellSuspects returns every command that a script may run, for rules that deny. Each
// command is listed as written, without quotes, with the base name of its program, without
// leading variables, keywords and wrappers, and with the commands of a script in sh -c. If
// the script is not plain, every text between special characters of the shell is listed
// too, which may be more than runs.
func shellSuspects(script string, depth int) []string {
	commands, plain := shellCommands(script)
	if !plain {
		commands = append(commands, strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(";|&\n(){}`\"'$<>", r) })...)
	}
	var out []string
	for _, c := range commands {
		bare := strings.Map(func(r rune) rune {
			if r == '\'' || r == '"' || r == '\\' {
				return -1
			}
			return r
		}, c)
		words := strings.Fields(bare)
		out = append(out, c, strings.Join(words, " "))
		for len(words) > 0 && passedOver(words[0]) {
			words = words[1:]
			out = append(out, strings.Join(words, " "))
		}
		if len(words) == 0 {
			continue
		}
		program := words[0][strings.LastIndexByte(words[0], '/')+1:]
		out = append(out, strings.Join(append([]string{program}, words[1:]...), " "))
		if depth < maxNested {
			if inner := shellScript(c); inner != c {
				out = append(out, shellSuspects(inner, depth+1)...)
			}
		}
	}
	return out
}

// passedOver reports whether the actual command may begin after the word.
func passedOver(word string) bool {
	name := word[strings.LastIndexByte(word, '/')+1:]
	return strings.Contains(keywords, " "+word+" ") || strings.Contains(wrappers, " "+name+" ") ||
		strings.IndexByte(word, '=') > 0 || word[0] == '-' || word[0] >= '0' && word[0] <= '9'
}
