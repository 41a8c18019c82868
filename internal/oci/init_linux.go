package oci

import (
	"os"
	"path/filepath"

	"sbx/spec"
)

// initProgram returns the path of sbx-init, in the same directory as this program.
func initProgram() (string, error) {
	self, err := os.Readlink("/proc/self/exe")
	path := filepath.Dir(self) + "/sbx-init"
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", &spec.Problem{On: path, Do: "hold the spec in the container", Why: err.Error(), Help: "install sbx-init next to sbx-oci"}
	}
	return path, nil
}
