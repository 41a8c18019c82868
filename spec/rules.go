package spec

import (
	"strings"
	"unicode/utf8"

	"sbx/internal/doc"
	"sbx/internal/reach"
)

// The rules of strings (decode.Rule). schema.json has the same rules as patterns.

// TextRule is the rule of a string that is passed to the kernel.
func TextRule(s string) (why, meant, help string) {
	if strings.IndexByte(s, 0) >= 0 {
		return "a string with a NUL character", "", ""
	}
	return "", "", ""
}

// PathRule is the rule of a path.
func PathRule(s string) (why, meant, help string) {
	switch {
	case s == "":
		return "want a path, got an empty string", "", ""
	case strings.IndexByte(s, 0) >= 0:
		return "a path with a NUL character", "", ""
	case s[0] == '~' && len(s) > 1 && s[1] != '/':
		return "another user's home is not expanded", "", "write the whole path, or ./" + cut(s) + " for that name"
	case s[0] == '$':
		return "variables are not expanded in paths", homeMeant(s), "write ~ for the home directory, or ./" + cut(s) + " for that name"
	}
	return "", "", ""
}

func homeMeant(s string) string {
	for _, home := range []string{"$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(s, home); ok && (rest == "" || rest[0] == '/') {
			return "~" + rest
		}
	}
	return ""
}

// Anywhere begins an item of filesystem.write or hide that is a name at any depth.
const Anywhere = "**/"

// System stands in filesystem.read for the files that programs need to start.
const System = "@system"

// ListedPathRule is the rule of a path in a list of filesystem: globs are not allowed.
func ListedPathRule(s string) (why, meant, help string) {
	if why, meant, help = PathRule(s); why != "" {
		return why, meant, help
	}
	if strings.ContainsAny(s, "*?") {
		return "globs are not supported here", "", "name the directory that holds them"
	}
	return "", "", ""
}

// Spelled returns a path as an item of a list of filesystem; ok is false if no document can name it.
func Spelled(path string) (named string, ok bool) {
	if path != "" && strings.IndexByte("@~$", path[0]) >= 0 {
		path = "./" + path
	}
	return path, utf8.ValidString(path) && !strings.ContainsAny(path, "*?")
}

// SpelledProgram returns a program as an item of a list of commands: by its name, or by its
// path if no document can have the name. A name with a slash is a path itself.
func SpelledProgram(name, path string) string {
	if name == "" || strings.IndexByte("~$", name[0]) < 0 {
		return name
	}
	if strings.Contains(name, "/") {
		return "./" + name
	}
	return path
}

func readRule(s string) (why, meant, help string) {
	if strings.HasPrefix(s, "@") {
		return setRule(s, ReadSets())
	}
	return ListedPathRule(s)
}

func writeRule(s string) (why, meant, help string) {
	if s == System {
		return "@system can be read, never written", "", ""
	}
	if strings.HasPrefix(s, "@") {
		return setRule(s, Presets())
	}
	name, anywhere := strings.CutPrefix(s, Anywhere)
	switch {
	case !anywhere:
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/*?\x00"):
		return "want **/ and one name, as in **/.git", "", ""
	default:
		return "", "", ""
	}
	why, meant, help = ListedPathRule(s)
	switch {
	case !strings.HasPrefix(why, "globs"):
	case strings.HasPrefix(s, "/dev/"):
		help = "name each device, as /dev/dri/renderD128"
	default:
		help = "only **/NAME is, for a protected name such as **/.git"
	}
	return why, meant, help
}

func hideRule(s string) (why, meant, help string) {
	if s == System {
		return "@system cannot be hidden", "", "leave it out of filesystem.read"
	}
	if strings.HasPrefix(s, "@") {
		return "a set of files is opened, never hidden", "", "write ./" + cut(s) + " for a file of that name"
	}
	if name, anywhere := strings.CutPrefix(s, Anywhere); anywhere {
		if rest := strings.Replace(name, "*", "", 1); rest == "" || name == "." || name == ".." || strings.ContainsAny(rest, "/*?\x00") {
			return "want **/ and one name with one * at most, as in **/.env or **/*.pem", "", ""
		}
		return "", "", ""
	}
	why, meant, help = ListedPathRule(s)
	if strings.HasPrefix(why, "globs") {
		if name := s[strings.LastIndexByte(s, '/')+1:]; name != "" && strings.Count(name, "*") <= 1 && name != "*" && !strings.Contains(name, "?") {
			meant = Anywhere + name
		}
		help = "only **/NAME is, as **/.env or **/*.pem, for what has that name at any depth of the workspace"
	}
	return why, meant, help
}

func targetRule(s string) (why, meant, help string) {
	if why, meant, help = PathRule(s); why != "" {
		return why, meant, help
	}
	if s[0] != '/' && s[0] != '~' {
		return "want an absolute path, got " + quote(cut(s)), "", "a target is a path inside the sandbox, as in /data"
	}
	return "", "", ""
}

// RestrictRule is the rule of restrict.
func RestrictRule(s string) (why, meant, help string) {
	switch {
	case strings.IndexByte(s, 0) >= 0:
		return "a path with a NUL character", "", ""
	case s == "" || s[0] != '/':
		return "want a path that starts with /, counted from the sandbox's root, got " + quote(cut(s)), "/" + strings.TrimPrefix(cut(s), "./"), ""
	}
	return "", "", ""
}

// ToolRule is the rule of a tool's name or pattern: Name or Name(rule).
func ToolRule(s string) (why, meant, help string) {
	const form = "want a tool as Name or Name(rule), got "
	name, rest := s, ""
	if i := strings.IndexByte(s, '('); i >= 0 {
		name, rest = s[:i], s[i:]
	}
	if !isToolName(name) {
		meant := strings.TrimSpace(name)
		if meant == name || !isToolName(meant) || rest != "" && !isToolRest(rest) {
			return form + quote(cut(s)), "", "as in Read or Bash(git:*)"
		}
		return form + quote(cut(s)), meant + rest, ""
	}
	if rest != "" && !isToolRest(rest) {
		return form + quote(cut(s)), "", "as in Read or Bash(git:*)"
	}
	return "", "", ""
}

func isToolRest(s string) bool {
	if len(s) < 3 || s[len(s)-1] != ')' {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' {
			return false
		}
	}
	return true
}

func isToolName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '*'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '.' || c == '-')) {
			return false
		}
	}
	return s != ""
}

// variableRule is the rule of an environment variable's name.
func variableRule(s string) (why, meant, help string) {
	switch {
	case s == "":
		return "want the name of a variable, got an empty string", "", ""
	case strings.ContainsAny(s, "=\x00"):
		name, _, _ := strings.Cut(s, "=")
		return "the name of a variable holds no = and no NUL", name, ""
	}
	return "", "", ""
}

// passRule is the rule of environment.pass: a name or a glob.
func passRule(s string) (why, meant, help string) {
	if name, ok := strings.CutPrefix(s, "$"); ok && name != "" && variableIs(name) {
		return "want a name or a glob, without $", name, ""
	}
	return variableRule(s)
}

func variableIs(s string) bool { why, _, _ := variableRule(s); return why == "" }

// programRule is the rule of commands: a program's name, a path or a directory.
func programRule(s string) (why, meant, help string) {
	if s == "" {
		return "want a program's name or path, got an empty string", "", ""
	}
	return PathRule(s)
}

func bestEffortRule(s string) (why, meant, help string) {
	if Known(Field(s)) {
		return "", "", ""
	}
	known := make([]string, 0, 2*len(fields))
	for i := range fields {
		f := string(fields[i].Field)
		outer, _, nested := strings.Cut(f, ".")
		if nested && (len(known) == 0 || known[len(known)-1] != outer) {
			known = append(known, outer)
		}
		known = append(known, f)
	}
	return "want a field of the spec or *, got " + quote(cut(s)), doc.Nearest(s, known), ""
}

func endpointRule(s string) (why, meant, help string) {
	_, err := reach.Expand(s, "")
	if err == nil {
		return "", "", ""
	}
	return err.Why, err.Meant, err.Help
}
