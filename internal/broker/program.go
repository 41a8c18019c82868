package broker

import (
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/broker/document"
	"sbx/internal/doc"
	"sbx/internal/read"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap/host"
)

// findProgram finds a tool's program along search, once: each call starts that file. A
// tool is refused whose program is not there, or is reached by anything that the sandbox
// can write.
func (w *walls) findProgram(t *document.Tool, search string) *spec.Problem {
	name := t.Program()
	refuse := func(why, help string) *spec.Problem {
		return &spec.Problem{Field: spec.Field("tools." + t.Name), On: w.start.Broker.Name, Do: "start " + name, Why: why, Help: help}
	}
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		return refuse("it is no name, and no path from the root", "")
	}
	if set := t.Spec.Get("environment").Get("set").Get("PATH"); set != nil {
		if search = w.search(set.Text); search != set.Text {
			return refuse("its spec sets PATH to "+set.Text+", where a directory is relative or can be written by the sandbox", "environment.set.PATH: "+search)
		}
	}
	along := &spec.Resolved{Env: []string{"PATH=" + search}}
	p, found := host.LookUp(name, along)
	if found != host.Found {
		return refuse("it is not found as a program in "+search, "directories of PATH that are relative, or that the sandbox can write, are left out")
	}
	t.Files = []string{p.Path, p.Real}
	hops := host.Trace(p.Path, along)
	for i, hop := range hops {
		if at := w.foreign(hop.Path); at != "" {
			return refuse("the sandbox can write "+at+", by which it is reached", "take another program, or another path to it")
		}
		switch by := host.Interpreter(hop.Path); {
		case by == "":
		case by[0] != '/':
			return refuse(hop.Path+" names an interpreter by a relative path", "name it by its path from the root in the first line")
		case path.Base(by) == "env" && !runs(hops[i:]):
			return refuse("it cannot be told what env runs for "+hop.Path, "name the interpreter by its path in the first line")
		}
	}
	if len(hops) == host.MaxHops {
		return refuse("it is reached by more than 40 links and interpreters", "name the program itself")
	}
	return nil
}

// runs tells whether what env runs is among the hops.
func runs(hops []host.Hop) bool {
	for _, h := range hops {
		if h.How == "env runs" {
			return true
		}
	}
	return false
}

// search is PATH without the directories that are relative, and those whose programs may
// be the sandbox's.
func (w *walls) search(dirs string) string {
	var all []string
	for _, dir := range filepath.SplitList(dirs) {
		if filepath.IsAbs(dir) && w.foreign(dir) == "" {
			all = append(all, dir)
		}
	}
	return strings.Join(all, ":")
}

// foreign is what the sandbox can write of all that is looked up on the way to a file of
// the host's, links in the middle of it included; "" for nothing.
func (w *walls) foreign(file string) string {
	at, rest := "/", strings.Split(file, "/")
	for links := 0; len(rest) > 0 && links < maxLinks; {
		name := rest[0]
		switch rest = rest[1:]; name {
		case "", ".":
			continue
		case "..":
			at = view.Parent(at)
			continue
		}
		at = path.Join(at, name)
		if w.writable(at) {
			return at
		}
		if target := read.Link(unix.AT_FDCWD, at); target != "" {
			links++
			if at = view.Parent(at); target[0] == '/' {
				at = "/"
			}
			rest = append(strings.Split(target, "/"), rest...)
		}
	}
	return ""
}

// keeps refuses the file of a secret that the sandbox can read, or that it chooses.
func (w *walls) keeps(name, file string) *spec.Problem {
	p := &spec.Problem{Field: spec.Field("secrets." + name), On: w.start.Broker.Name, Do: "keep the secret of " + file + " from the command"}
	if at := w.foreign(file); at != "" {
		p.Why, p.Help = "the sandbox can write "+at+", by which it is reached", "keep it where the sandbox writes nothing"
		return p
	}
	if real, err := filepath.EvalSymlinks(file); err == nil { // what is not there is said as it is read
		if seen := w.granted.Tree.Images(real); len(seen) > 0 {
			p.Why, p.Help = "the sandbox can read "+seen[0], "filesystem.hide: ["+doc.Quote(real)+"]"
			return p
		}
	}
	return nil
}

// holdsSpec refuses the spec of a tool that the sandbox can write. One in the workspace
// is protected there, as all documents of a run are; a link that leads to it is not.
func (w *walls) holdsSpec(t *document.Tool) *spec.Problem {
	if t.SpecFile == "" {
		return nil
	}
	at := w.foreign(t.SpecFile)
	if real, err := filepath.EvalSymlinks(t.SpecFile); err == nil && real == t.SpecFile {
		at = ""
		for _, image := range w.granted.Tree.Images(real) {
			if w.granted.Tree.At(image).Access == view.Write {
				at = image
			}
		}
	}
	if at == "" {
		return nil
	}
	return &spec.Problem{Field: spec.Field("tools." + t.Name + ".spec"), On: w.start.Broker.Name, Do: "hold the tool to " + t.SpecFile,
		Why: "the sandbox can write " + at + ", by which it is reached", Help: "name the file itself, where the sandbox writes nothing"}
}

// maxLinks is how many the kernel follows for a path (path_resolution(7)): beyond them
// there is no file.
const maxLinks = 40
