package dispatch

import (
	"path/filepath"
	"strconv"

	"sbx/spec"
)

// Place is the location of a ledger, which may not exist yet.
type Place struct {
	Path string // absolute
	// Found means that Find found it in a project, not by a name. Only Intercore creates
	// such a ledger.
	Found bool
	// Home means that it is the caller's own in the state directory. Open creates the
	// parent directories.
	Home bool
}

// foreignName is where Intercore keeps its database in a project.
const foreignName = ".clavain/intercore.db"

// Owners returns the owner of a path; there is false if the path does not exist.
type Owners func(path string) (uid int, there bool)

// Find returns the ledger of a project: the named one (--db), else the nearest
// .clavain/intercore.db in the project and the directories above, else the caller's own in
// its state directory. A ledger that is found must belong to the caller, to root or to the
// owner of the project, since others may write to a directory above, such as /tmp.
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
