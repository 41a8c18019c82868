package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// adapter is what sbx knows about one agent's command line.
type adapter struct {
	agent  spec.Agent
	flags  func(*answer, Ask)
	bypass []string // the flags that turn every permission check off
	policy func(Ask) string
	pass   []string // its variables for keys and base URLs, though they look like credentials
	models string   // the set of hosts of its maker's model API
	bases  []string // variables with URLs that replace models
	clouds []cloud  // clouds that offer its model too
	home   string   // the variable that moves the directory state
	state  string
	needs  []need

	starts string // how many programs it starts itself during a small task
	// aside are file names of programs that connect before the agent itself does, and not to
	// its model.
	aside []string

	npm       string   // its npm package
	installed []string // parts of the paths at which its program is installed

	parser        parser
	options       []option
	bypassModes   []string // permission modes that turn every permission check off
	writingModes  []string // permission modes in which it writes to the project unasked
	enforcesTools bool     // its allow-list holds even with every permission check off
	// replaced says that its checks are a sandbox of its own, which sbx's sandbox replaces:
	// an argument that turns it off asks for nothing more.
	replaced bool
	// streams reports whether its arguments allow a JSON stream; nil for always.
	streams func(args []string) bool
}

// cloud is a cloud that offers an agent's model.
type cloud struct {
	when    string   // the variable that selects the cloud
	regions []string // variables that name the region; the first that is set counts
	region  string   // the default region
	hosts   []string // items of network.allow; {} stands for the region
}

// need is a path that an agent needs; "~" stands for the home directory.
type need struct {
	path string
	mode spec.OwnMode
	why  string
}

// placeOf returns the path of a need under a home directory, and under moved if the agent's state
// was moved there; "" if there is no home.
func (ad *adapter) placeOf(n need, home, moved string) string {
	path := n.path
	if rest, ok := strings.CutPrefix(path, ad.state); ok && strings.HasPrefix(moved, "/") && (rest == "" || rest[0] == '/') {
		path = moved + rest
	}
	rest, ok := strings.CutPrefix(path, "~")
	switch {
	case !ok:
		return path
	case home == "":
		return ""
	}
	return home + rest
}

// option returns the option that a word is to the agent's own parser, and the value that is part
// of the word; nil if it is none.
func (ad *adapter) option(word string) (o *option, name, value string, given bool) {
	name, value, given = strings.Cut(word, "=")
	single := len(name) > 2 && name[0] == '-' && name[1] != '-'
	switch ad.parser {
	case clap:
		if single { // -sread-only
			name, value, given = word[:2], strings.TrimPrefix(word[2:], "="), true
		}
	case yargs:
		if single { // -yp: each letter is an option
			if strings.IndexByte(name, 'y') > 0 {
				name = "-y"
			} else {
				name = "-" + name[len(name)-1:]
			}
		} else if strings.HasPrefix(name, "--") { // --approvalMode
			name = dashes(name)
		}
	}
	at := slices.IndexFunc(ad.options, func(o option) bool { return slices.Contains(o.names, name) })
	if at < 0 {
		return nil, "", "", false
	}
	return &ad.options[at], name, value, given
}

// dashes returns a flag in camel case with dashes.
func dashes(flag string) string {
	var b strings.Builder
	for i := range len(flag) {
		if c := flag[i]; 'A' <= c && c <= 'Z' {
			b.WriteByte('-')
			b.WriteByte(c - 'A' + 'a')
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
