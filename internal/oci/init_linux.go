package oci

import (
	"os"
	"path/filepath"

	"sbx/internal/oci/walls"
	"sbx/spec"
)

// inits returns the host's paths of sbx-init and its walls for the container. Unless a filter keeps
// the container from doing more than reading them, they are copies on a file system that only this
// container has. The container could make the mount of a shared file writable again, take a lease
// on the file (fcntl(2)), and, with CAP_DAC_READ_SEARCH, open other files of the same file system.
func (m *making) inits(w *walls.Walls, filtered bool) (map[string]string, error) {
	program, err := initProgram()
	if err != nil {
		return nil, err
	}
	encoded := w.Append(nil)
	if filtered {
		return map[string]string{walls.Init: program, walls.File: m.shelf.dir + "/" + wallsFile}, m.shelf.put(wallsFile, encoded)
	}
	b, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	dir, err := m.shelf.fileSystem(map[string][]byte{"sbx-init": b, wallsFile: encoded})
	return map[string]string{walls.Init: dir + "/sbx-init", walls.File: dir + "/" + wallsFile}, err
}

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
