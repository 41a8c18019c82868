package oci

import (
	"os"
	"path/filepath"

	"sbx/internal/oci/walls"
	"sbx/spec"
)

// inits returns the host's paths of sbx-init, and of its walls if no supervisor has them, for the
// container. Unless a filter keeps the container from doing more than reading sbx-init, it is a copy
// on a file system that only this container has. The container could make the mount of a shared file
// writable again, take a lease on the file (fcntl(2)), and, with CAP_DAC_READ_SEARCH, open other
// files of the same file system.
func (m *making) inits(w *walls.Walls, filtered bool) (map[string]string, error) {
	program, err := initProgram()
	if err != nil {
		return nil, err
	}
	programs := map[string]string{walls.Init: program}
	if !w.Listens { // else the supervisor has the walls
		programs[walls.File] = m.shelf.dir + "/" + wallsFile
		if err := m.shelf.put(wallsFile, w.Append(nil)); err != nil {
			return nil, err
		}
	}
	if !filtered {
		b, err := os.ReadFile(program)
		if err != nil {
			return nil, err
		}
		programs[walls.Init], err = m.shelf.fileSystem(b)
		if err != nil {
			return nil, err
		}
	}
	return programs, nil
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
