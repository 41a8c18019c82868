package launch

import "strings"

// use is what git does with the value of a variable.
type use uint8

const (
	unused  use = iota
	include     // a path, counted from the file that it stands in, read as configuration
	path        // a path, counted from the working tree's top
	command     // a program with arguments, started in the working tree's top
)

// gitKeys is which variables make git read more configuration or run
// something. sub is "*" where any subsection, or none, will do.
//
// Decided against: aliases, which run when somebody types them; the URLs of
// remotes, which name no program but through ext::, off by default;
// core.excludesFile and its like, lists of names.
var gitKeys = [...]struct {
	section, sub, key string
	use               use
	why               string
}{
	{"browser", "*", "cmd", command, "git runs it to show help"},
	{"browser", "*", "path", command, "git runs it to show help"},
	{"core", "", "alternaterefscommand", command, "git runs it at fetch"},
	{"core", "", "askpass", command, "git runs it to ask for passwords"},
	{"core", "", "attributesfile", path, "it chooses which filters git runs"},
	{"core", "", "editor", command, "git runs it at commit"},
	{"core", "", "fsmonitor", command, "git runs it at every status"},
	{"core", "", "gitproxy", command, "git runs it at fetch"},
	{"core", "", "hookspath", path, "git runs the hooks in it"},
	{"core", "", "pager", command, "git runs it to show output"},
	{"core", "", "sshcommand", command, "git runs it at fetch and push"},
	{"credential", "*", "helper", command, "git runs it to ask for passwords"},
	{"diff", "", "external", command, "git runs it at diff"},
	{"diff", "*", "command", command, "git runs it at diff"},
	{"diff", "*", "textconv", command, "git runs it at diff"},
	{"difftool", "*", "cmd", command, "git runs it at difftool"},
	{"difftool", "*", "path", command, "git runs it at difftool"},
	{"filter", "*", "clean", command, "git runs it at add and status"},
	{"filter", "*", "process", command, "git runs it at add and checkout"},
	{"filter", "*", "smudge", command, "git runs it at checkout"},
	{"gc", "", "recentobjectshook", command, "git runs it at gc"},
	{"gpg", "*", "defaultkeycommand", command, "git runs it to sign"},
	{"gpg", "*", "program", command, "git runs it to sign and verify"},
	{"hook", "*", "command", command, "git runs it as a hook"},
	{"include", "", "path", include, "git reads it as configuration"},
	{"includeif", "*", "path", include, "git reads it as configuration"},
	{"init", "", "templatedir", path, "git init copies hooks from it"},
	{"interactive", "", "difffilter", command, "git runs it at add -p"},
	{"man", "*", "cmd", command, "git runs it to show help"},
	{"man", "*", "path", command, "git runs it to show help"},
	{"merge", "*", "driver", command, "git runs it at merge"},
	{"mergetool", "*", "cmd", command, "git runs it at mergetool"},
	{"mergetool", "*", "path", command, "git runs it at mergetool"},
	{"pager", "*", "*", command, "git runs it to show output"},
	{"remote", "*", "receivepack", command, "git runs it at push"},
	{"remote", "*", "uploadpack", command, "git runs it at fetch"},
	{"sequence", "", "editor", command, "git runs it at rebase -i"},
	{"submodule", "*", "update", command, "git runs it at submodule update"},
	{"tar", "*", "command", command, "git runs it at archive"},
	{"trailer", "*", "cmd", command, "git runs it at commit"},
	{"trailer", "*", "command", command, "git runs it at commit"},
	{"uploadpack", "", "packobjectshook", command, "git runs it when others fetch from here"},
}

// keyUse is what git does with a variable, and the reason to protect what its
// value names.
func keyUse(v *gitVar) (use, string) {
	for i := range gitKeys {
		k := &gitKeys[i]
		if k.section == v.Section && (k.key == v.Key || k.key == "*") && (k.sub == "*" || v.Sub == "") {
			return k.use, v.Section + "." + v.Key + ": " + k.why
		}
	}
	return unused, ""
}

// named is a path that a configuration names, as it stands there.
type named struct {
	text  string // absolute, or counted from the working tree's top
	use   use
	hooks bool // core.hooksPath
	why   string
}

// maxWords bounds the words of one command.
const maxWords = 32

// commandWords calls each for what may be a file among the words of a command:
// git hands it to a shell where it holds anything but plain words. A path
// that the shell would only put together later ("$(git rev-parse …)/x") is not
// found.
func commandWords(value string, each func(word string)) {
	for range maxWords {
		value = strings.TrimLeft(value, commandBreaks)
		if value == "" {
			return
		}
		end := strings.IndexAny(value, commandBreaks)
		if end < 0 {
			end = len(value)
		}
		each(value[:end])
		value = value[end:]
	}
}

// commandBreaks parts words; "=" is among them for NAME=value and --file=path.
const commandBreaks = " \t\r\n;&|()<>\"'`!="

// homePath is a path of a configuration with "~/" replaced. "~user/" and
// "%(prefix)/" lead out of any workspace but somebody else's home: they stay
// as they are and are found nowhere.
func homePath(text, home string) string {
	if rest, ok := strings.CutPrefix(text, "~/"); ok && home != "" {
		return join(home, rest)
	}
	return strings.TrimPrefix(text, ":(optional)")
}
