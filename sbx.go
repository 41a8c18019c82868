package sbx

import (
	"os"
	"os/exec"
	"path/filepath"
)

// Refused is the error of a command that did not start: what the spec asks for
// cannot be held on this host, or the command was not found. errors.As finds the
// *exec.ExitError in it too, whose code is 125, or 126 and 127 as a shell has them.
type Refused struct {
	Field string `json:"field"`  // of the spec; "" where it is no field's
	On    string `json:"on"`     // where: a path, a program, the spec's name
	Why   string `json:"reason"` // what was attempted, and the one cause
	Help  string `json:"help"`   // what would help; may be empty

	exit error
}

// Error is the refusal on one line.
func (r *Refused) Error() string {
	at := ""
	switch {
	case r.Field != "" && r.On != "":
		at = r.Field + " (" + r.On + "): "
	case r.Field+r.On != "":
		at = r.Field + r.On + ": "
	}
	return "sbx: " + at + r.Why
}

// Unwrap is how the program sbx ended.
func (r *Refused) Unwrap() error { return r.exit }

// beside is the program sbx in the directory of the running program; "" for none.
func beside() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	path, err := exec.LookPath(filepath.Join(filepath.Dir(self), "sbx"))
	if err != nil {
		return ""
	}
	return path
}
