package agent

import "strings"

// Place says where an agent's configuration is, and reads it.
type Place struct {
	Home  string
	Get   func(name string) string // the agent's environment
	Start string                   // the directory in which the agent starts
	Typed Typed
	Read  func(path string) (text []byte, found bool, err error)
	There func(path string) bool
}

// text returns the content of a file, by its path from the agent's directory; nil if it cannot
// be read.
func (at *Place) text(path string) []byte {
	if !strings.HasPrefix(path, "/") {
		path = at.Start + "/" + path
	}
	text, _, _ := at.Read(path)
	return text
}

// upwards returns a directory and those above it.
func upwards(dir string) []string {
	dir = strings.TrimRight(dir, "/")
	all := []string{dir}
	for dir != "" {
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
		all = append(all, dir)
	}
	return all
}
