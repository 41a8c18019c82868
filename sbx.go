package sbx

import (
	"os"
	"os/exec"
	"path/filepath"
)

// Refused is the error of a command that did not start: this host cannot enforce what the
// spec asks for, or the command was not found. errors.As also finds the *exec.ExitError,
// whose code is 125, or 126 and 127 as in a shell.
type Refused struct {
	Field string `json:"field"`  // the field of the spec; "" if it is about no field
	On    string `json:"on"`     // a path, a program or the spec's name
	Why   string `json:"reason"` // what was attempted, and its cause
	Help  string `json:"help"`   // what would help; may be ""

	exit error
}

// Error returns the refusal on one line.
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

// Unwrap returns the *exec.ExitError of sbx.
func (r *Refused) Unwrap() error { return r.exit }

// beside returns the program sbx in the directory of the running program; "" if there is
// none.
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
