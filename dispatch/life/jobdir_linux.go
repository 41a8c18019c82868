package life

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"sbx/audit"
)

// jobDir is the directory of a dispatch, which no sandbox can see.
type jobDir string

// The files in the directory of a dispatch.
const (
	jobFile     = "job.json"
	processFile = "process.json"
	recordFile  = "effective.json"
	specFile    = "spec.json"
	errorsFile  = "stderr"
	outputFile  = "output"
	stopFile    = "stop" // the status requested when the dispatch was stopped
)

// dirOf returns the directory of a dispatch.
func (w *World) dirOf(ledger, id string) jobDir {
	return jobDir(filepath.Join(w.dirs(ledger), dirName(id)))
}

// dirs returns the directory that contains the directories of one ledger's dispatches.
func (w *World) dirs(ledger string) string {
	return filepath.Join(w.StateDir, "dispatches", digest(realFile(ledger))[:16])
}

// realFile resolves the symbolic links of a path, so that every process uses the same
// directory for a ledger, by whichever path it was named. The file and its directory need not
// exist.
func realFile(path string) string {
	for dir, rest := path, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if at, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(at, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
	}
}

// dirName returns the name of the directory for an id. An id in a foreign ledger may be any
// text; one that is not plain is replaced by its digest.
func dirName(id string) string {
	if len(id) > 64 || id == "" {
		return "x-" + digest(id)
	}
	for i := range len(id) {
		if c := id[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return "x-" + digest(id)
		}
	}
	return id
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// make creates the directory. It fails if the directory exists: the process that creates
// it runs the dispatch.
func (f jobDir) make() error {
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return err
	}
	return os.Mkdir(string(f), 0o700)
}

// makeWith is make with the job and the process in the directory. It creates them
// atomically, so that an existing directory always names the process.
func (f jobDir) makeWith(j *Job, p audit.Process) error {
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(string(f)), ".new-")
	if err != nil {
		return err
	}
	if err = jobDir(temp).writeJSON(processFile, p); err == nil {
		err = jobDir(temp).writeJSON(jobFile, j)
	}
	if err == nil {
		err = os.Rename(temp, string(f)) // fails if the directory exists and is not empty
	}
	if err != nil {
		_ = os.RemoveAll(temp)
	}
	return err
}

func (f jobDir) path(name string) string { return filepath.Join(string(f), name) }

// write replaces a file atomically.
func (f jobDir) write(name string, b []byte) error {
	temp := f.path("." + name)
	if err := os.WriteFile(temp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, f.path(name))
}

// read returns the content of a file in the directory; nil if there is none, or if it is
// larger than a record may be.
func (f jobDir) read(name string) []byte {
	file, err := os.OpenFile(f.path(name), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<20 {
		return nil
	}
	b, err := io.ReadAll(file)
	if err != nil {
		return nil
	}
	return b
}

// writeJSON writes a value as JSON, for readJob or process.
func (f jobDir) writeJSON(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.write(name, b)
}

// readJob returns the job in the directory; nil if there is none.
func (f jobDir) readJob() *Job {
	j := new(Job)
	if b := f.read(jobFile); b == nil || json.Unmarshal(b, j) != nil {
		return nil
	}
	return j
}

// process returns the keeper's process; noted is false if the directory names none.
func (f jobDir) process() (p audit.Process, noted bool) {
	b := f.read(processFile)
	if b == nil || json.Unmarshal(b, &p) != nil || p.PID <= 0 {
		return audit.Process{}, false
	}
	return p, true
}

// isThere reports whether err means that the directory exists already.
func isThere(err error) bool { return errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) }
