package broker

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sbx/internal/broker/document"
	"sbx/internal/sys"
	"sbx/internal/view"
	"sbx/spec"
)

// findProgram refuses a tool whose program is not there, or that the sandbox could write.
func (b *Broker) findProgram(t *document.Tool, environ []string) *spec.Problem {
	name := t.Program()
	file, err := lookUp(name, sys.Variable(environ, "PATH"))
	why := ""
	if err != nil {
		why = err.Error()
	} else if real, err := filepath.EvalSymlinks(file); err != nil {
		why = err.Error()
	} else {
		t.Files = []string{file, real}
		for _, f := range t.Files {
			if b.writable(f) {
				why = "the sandbox can write " + f
			}
		}
	}
	if why != "" {
		return &spec.Problem{Field: spec.Field("tools." + t.Name), On: b.doc.Name, Do: "start " + name, Why: why}
	}
	return nil
}

// lookUp finds a program by PATH; one with a / is a path from the root.
func lookUp(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			return "", &exec.Error{Name: name, Err: os.ErrInvalid}
		}
		return name, nil
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// writable tells whether the sandbox can write a path of the host's.
func (b *Broker) writable(file string) bool {
	for _, w := range b.places(view.Write) {
		if view.Within(file, w) {
			return true
		}
	}
	return false
}
