package launch

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// tools finds the programs of other sandboxes along PATH, and what of /proc they
// have to be told of one by one.
func (p *prober) tools() {
	path, _ := p.env("PATH")
	for _, name := range wrap.ToolNames() {
		p.h.Tools = append(p.h.Tools, wrap.Tool{Name: name, Path: onPath(name, path)})
	}
	if p.h.Paths == nil {
		p.h.Paths = map[string]wrap.Kind{}
	}
	for _, name := range append(names(wrap.ProcReadOnly()), names(wrap.ProcMasked())...) {
		p.look("/proc/" + name)
	}
}

// onPath is the first file of that name along path that may be executed; "" for
// none. Folders that are relative are passed over.
func onPath(name, path string) string {
	for dir := range strings.SplitSeq(path, ":") {
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		file := join(dir, name)
		if kindAt(file) == wrap.File && unix.Access(file, unix.X_OK) == nil {
			return file
		}
	}
	return ""
}
