package life

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/dispatch"
	"sbx/internal/dirs"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// Follow resolves an absolute path of a job. It refuses symbolic links that an earlier
// command may have planted: in the directories that the job starts in, was spawned from or
// may write. The caller sets Problem.On and Problem.Do.
func (w *World) Follow(j *Job, path string) (spec.Path, *spec.Problem) {
	in := spec.Inputs{Home: w.Home, Cwd: j.Project, Paths: spec.HostPaths{}, Lists: defaults.Lists(), WrittenDirs: []string{j.Cwd}}
	var docs []*spec.SandboxSpec
	if _, s, err := j.document(); err == nil {
		docs = append(docs, s)
	}
	trees := spec.TreesOf(in, docs...)
	return trees.Follow(path)
}

// Project returns the directory that a job starts in, with links resolved.
func (w *World) Project(j *Job) (string, error) {
	p, refusal := w.Follow(j, j.Project)
	if refusal == nil && !p.IsDir {
		refusal = &spec.Problem{Why: "it is not a directory", Help: "name the project's directory: --project DIR"}
	}
	if refusal != nil {
		refusal.On, refusal.Do = j.Project, "start the command in the project"
		return "", refusal
	}
	return p.Real, nil
}

// Ledger returns the location of the ledger of a job's project; named is --db, "" for none.
func (w *World) Ledger(named string, j *Job) (dispatch.Place, error) {
	at, err := dispatch.Find(named, j.Project, w.StateDir, os.Getuid(), dispatch.OwnerOf)
	if err != nil || named == "" {
		return at, err
	}
	if _, refusal := w.Follow(j, at.Path); refusal != nil && refusal.Help != "" { // any other error is reported by dispatch.Open
		refusal.On, refusal.Do = at.Path, "open the ledger"
		return at, refusal
	}
	return at, nil
}

// openReal opens an absolute path. It fails if that contains a symbolic link.
func openReal(path string, flags int) (*os.File, error) {
	fd, err := dirs.OpenReal(path, flags)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openRoot opens a directory as openReal does.
func openRoot(path string) (*os.Root, error) {
	f, err := openReal(path, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return os.OpenRoot("/proc/self/fd/" + strconv.Itoa(int(f.Fd()))) // as OpenRoot(path) would follow a link
}
