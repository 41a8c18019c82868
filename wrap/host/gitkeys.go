package host

import "strings"

// use is the way in which git uses a variable's value.
type use uint8

const (
	unused   use = iota
	include      // a path from the directory of its file, read as configuration
	path         // a path from the working tree's top
	command      // a program with arguments, started in the working tree's top
	operands     // the arguments of such a program
	address      // a repository's address: a command after "ext::", otherwise nothing that runs
)

// extPrefix begins a repository's address that is a command.
const extPrefix = "ext::"

// gitKeys are the variables that make git read more configuration or run a program. sub "*"
// matches any subsection, and none.
//
// Left out on purpose: aliases, which run when a person types them, and lists of names such
// as core.excludesFile.
var gitKeys = [...]struct {
	section, sub, key string
	use               use
	why               string
}{
	{"branch", "*", "pushremote", address, "git runs it at push"},
	{"branch", "*", "remote", address, "git runs it at fetch and push"},
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
	{"guitool", "*", "cmd", command, "git gui runs it"},
	{"hook", "*", "command", command, "git runs it as a hook"},
	{"imap", "", "tunnel", command, "git runs it at imap-send"},
	{"include", "", "path", include, "git reads it as configuration"},
	{"includeif", "*", "path", include, "git reads it as configuration"},
	{"init", "", "templatedir", path, "git init copies hooks from it"},
	{"interactive", "", "difffilter", command, "git runs it at add -p"},
	{"lfs", "*", "args", operands, "git lfs runs what takes it at fetch and push"},
	{"lfs", "*", "clean", command, "git lfs runs it at add and status"},
	{"lfs", "*", "path", command, "git lfs runs it at fetch and push"},
	{"lfs", "*", "smudge", command, "git lfs runs it at checkout"},
	{"man", "*", "cmd", command, "git runs it to show help"},
	{"man", "*", "path", command, "git runs it to show help"},
	{"merge", "*", "driver", command, "git runs it at merge"},
	{"mergetool", "*", "cmd", command, "git runs it at mergetool"},
	{"mergetool", "*", "path", command, "git runs it at mergetool"},
	{"pager", "*", "*", command, "git runs it to show output"},
	{"remote", "", "pushdefault", address, "git runs it at push"},
	{"remote", "*", "pushurl", address, "git runs it at push"},
	{"remote", "*", "receivepack", command, "git runs it at push"},
	{"remote", "*", "uploadpack", command, "git runs it at fetch"},
	{"remote", "*", "url", address, "git runs it at fetch and push"},
	{"sendemail", "*", "cccmd", command, "git runs it at send-email"},
	{"sendemail", "*", "headercmd", command, "git runs it at send-email"},
	{"sendemail", "*", "sendmailcmd", command, "git runs it at send-email"},
	{"sendemail", "*", "smtpserver", command, "git runs it at send-email"},
	{"sendemail", "*", "tocmd", command, "git runs it at send-email"},
	{"sequence", "", "editor", command, "git runs it at rebase -i"},
	{"submodule", "*", "update", command, "git runs it at submodule update"},
	{"submodule", "*", "url", address, "git runs it at submodule update"},
	{"tar", "*", "command", command, "git runs it at archive"},
	{"trailer", "*", "cmd", command, "git runs it at commit"},
	{"trailer", "*", "command", command, "git runs it at commit"},
	{"uploadpack", "", "packobjectshook", command, "git runs it when others fetch from here"},
	{"url", "*", "insteadof", address, "git runs it at fetch and push"},
	{"url", "*", "pushinsteadof", address, "git runs it at push"},
}

// keyUse returns what git does with a variable, the text that git takes as a path or a
// command, and the reason for protecting the file.
func keyUse(v *gitVar) (use use, text, why string) {
	for i := range gitKeys {
		k := &gitKeys[i]
		if k.section != v.Section || k.key != v.Key && k.key != "*" || k.sub != "*" && v.Sub != "" {
			continue
		}
		use, text, why = k.use, v.Value, v.Section+"."+v.Key+": "+k.why
		if use == address {
			if v.Section == "url" { // the subsection is the address
				text = v.Sub
			}
			rest, runs := strings.CutPrefix(text, extPrefix)
			if !runs {
				return unused, "", ""
			}
			use, text = command, rest
		}
		return use, text, why
	}
	return unused, "", ""
}

// named is a path in a configuration, as written there.
type named struct {
	text  string // absolute, or from the working tree's top
	use   use
	hooks bool // core.hooksPath
	why   string
}

// maxWords bounds the number of words of one command.
const maxWords = 32

// commandWords calls each for the words of a command that may be files. Git passes the
// command to a shell if it contains more than plain words. A path that only the shell
// assembles ("$(git rev-parse …)/x") is not found.
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

// commandBreaks separate words; "=" is included for NAME=value and --file=path.
const commandBreaks = " \t\r\n;&|()<>\"'`!="

// homePath replaces "~/" in a path of a configuration. "~user/" and "%(prefix)/" lead to
// nothing in a workspace, except in another user's home: they are left as they are and match
// no file.
func homePath(text, home string) string {
	if rest, ok := strings.CutPrefix(text, "~/"); ok && home != "" {
		return join(home, rest)
	}
	return strings.TrimPrefix(text, ":(optional)")
}
