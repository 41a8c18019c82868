package dispatch

import (
	"path/filepath"
	"strconv"

	"sbx/spec"
)

// Place is where a ledger is, or is to be.
type Place struct {
	Path string // absolute
	// Found tells that nobody named it: it stands in a project's directory, and is
	// Intercore's to make.
	Found bool
	// Home tells that it is the caller's own, in the state directory, whose parents
	// are made.
	Home bool
}

// foreignName is where Intercore keeps its database in a project.
const foreignName = ".clavain/intercore.db"

// Owners tells who owns a path, and whether it is there at all.
type Owners func(path string) (uid int, there bool)

// Find is the ledger for a project: the one that is named (--db), else the
// nearest .clavain/intercore.db from the project upwards, else the caller's own
// in its state directory. One that is found must be the caller's, root's or the
// project's owner's: a directory above, as /tmp, may be anybody's.
func Find(named, project, stateDir string, self int, owner Owners) (Place, error) {
	if named != "" {
		path, err := filepath.Abs(named)
		if err != nil {
			return Place{}, &spec.Problem{On: named, Do: "find the ledger", Why: err.Error()}
		}
		return Place{Path: path}, nil
	}
	of, _ := owner(project)
	for dir := project; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, foreignName)
		if uid, there := owner(path); there {
			if uid != self && uid != 0 && uid != of {
				return Place{}, &spec.Problem{On: path, Do: "use it as a ledger", Why: "it belongs to another user (uid " + strconv.Itoa(uid) + ")",
					Help: "name it, if it is meant: --db " + path}
			}
			return Place{Path: path, Found: true}, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if stateDir == "" {
		return Place{}, &spec.Problem{On: "the ledger", Do: "find it", Why: "there is no home directory, and XDG_STATE_HOME is not set to an absolute path",
			Help: "set HOME, or name a file: --db FILE"}
	}
	return Place{Path: stateDir + "/dispatches.db", Home: true}, nil
}
