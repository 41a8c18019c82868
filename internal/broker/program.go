package broker

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/broker/document"
	"sbx/internal/doc"
	"sbx/internal/read"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap/host"
)

// findProgram searches a tool's program in the directories of search, once: each call
// starts that file. It refuses a tool whose program is missing, or is reached through
// anything that the sandbox can write.
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
		if at := w.writablePart(hop.Path); at != "" {
			return refuse("the sandbox can write "+at+", by which it is reached", "take another program, or another path to it")
		}
		switch by := host.Interpreter(hop.Path); {
		case by == "":
		case by[0] != '/':
			return refuse(hop.Path+" names an interpreter by a relative path", "name it by its path from the root in the first line")
		case path.Base(by) == "env" && !envRuns(hops[i:]):
			return refuse("it cannot be told what env runs for "+hop.Path, "name the interpreter by its path in the first line")
		}
	}
	if len(hops) == host.MaxHops {
		return refuse("it is reached by more than 40 links and interpreters", "name the program itself")
	}
	return nil
}

// envRuns reports whether the program that env runs is among the hops.
func envRuns(hops []host.Hop) bool {
	return slices.ContainsFunc(hops, func(h host.Hop) bool { return h.How == "env runs" })
}

// search returns PATH without relative directories and without those whose programs the
// sandbox may have put there.
func (w *walls) search(dirs string) string {
	var all []string
	for _, dir := range filepath.SplitList(dirs) {
		if filepath.IsAbs(dir) && w.writablePart(dir) == "" {
			all = append(all, dir)
		}
	}
	return strings.Join(all, ":")
}

// writablePart returns the first path that the sandbox can write among all that the kernel looks up
// on the way to a file of the host, links included; "" for none.
func (w *walls) writablePart(file string) string {
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

// checkSecretFile refuses a secret's file that the sandbox can read, or can replace.
func (w *walls) checkSecretFile(name, file string) *spec.Problem {
	p := &spec.Problem{Field: spec.Field("secrets." + name), On: w.start.Broker.Name, Do: "keep the secret of " + file + " from the command"}
	if at := w.writablePart(file); at != "" {
		p.Why, p.Help = "the sandbox can write "+at+", by which it is reached", "keep it where the sandbox writes nothing"
		return p
	}
	if real, err := filepath.EvalSymlinks(file); err == nil { // reading the file reports that it is missing
		if seen := w.granted.Tree.Images(real); len(seen) > 0 {
			p.Why, p.Help = "the sandbox can read "+seen[0], "filesystem.hide: ["+doc.Quote(real)+"]"
			return p
		}
	}
	return nil
}

// checkSpecFile refuses a tool's spec that the sandbox can write. A spec in the workspace is
// protected there, like all documents of a run; a link to it is not protected.
func (w *walls) checkSpecFile(t *document.Tool) *spec.Problem {
	if t.SpecFile == "" {
		return nil
	}
	at := w.writablePart(t.SpecFile)
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

// maxLinks is how many links the kernel follows for one path (path_resolution(7)); with
// more, opening the file fails.
const maxLinks = 40
