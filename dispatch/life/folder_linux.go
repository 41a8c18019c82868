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

// folder is where a dispatch's own files are, out of every sandbox's sight.
type folder string

// The files of a directory.
const (
	jobFile     = "job.json"
	processFile = "process.json"
	recordFile  = "effective.json"
	specFile    = "spec.json"
	errorsFile  = "stderr"
	outputFile  = "output"
	stopFile    = "stop" // the status that whoever stopped the dispatch wants
)

// folderOf is the directory of a dispatch. An id of a foreign ledger may be any
// text: one that is no plain name stands for itself by its digest.
func (w *World) folderOf(ledger, id string) folder {
	return folder(filepath.Join(w.folders(ledger), folderName(id)))
}

// folders holds the directories of one ledger.
func (w *World) folders(ledger string) string {
	return filepath.Join(w.StateDir, "dispatches", digest(realFile(ledger))[:16])
}

// realFile is the one path of a file that may be named by several, through
// links: who drives a row must find whoever does so already. Neither the file
// nor its directory need be there yet.
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

func folderName(id string) string {
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

// make makes the directory, which must be new: whoever makes it runs the dispatch.
func (f folder) make() error {
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return err
	}
	return os.Mkdir(string(f), 0o700)
}

// makeWith makes the directory with its job and its process in it, all at once: a
// directory that is there says who runs the dispatch.
func (f folder) makeWith(j *Job, p audit.Process) error {
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(string(f)), ".new-")
	if err != nil {
		return err
	}
	if err = folder(temp).writeJSON(processFile, p); err == nil {
		err = folder(temp).writeJSON(jobFile, j)
	}
	if err == nil {
		err = os.Rename(temp, string(f)) // which fails where there is one, with something in it
	}
	if err != nil {
		_ = os.RemoveAll(temp)
	}
	return err
}

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

// write puts a file in place, whole or not at all.
func (f folder) write(name string, b []byte) error {
	temp := f.path("." + name)
	if err := os.WriteFile(temp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, f.path(name))
}

// read reads a file of the directory up to a record's size; nil where there is none.
func (f folder) read(name string) []byte {
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

// writeJSON writes a value for readJob or process.
func (f folder) writeJSON(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.write(name, b)
}

// readJob is what the keeper of a directory is to do; nil where that is not known.
func (f folder) readJob() *Job {
	j := new(Job)
	if b := f.read(jobFile); b == nil || json.Unmarshal(b, j) != nil {
		return nil
	}
	return j
}

// process is the keeper; false where nobody has noted one.
func (f folder) process() (p audit.Process, noted bool) {
	b := f.read(processFile)
	if b == nil || json.Unmarshal(b, &p) != nil || p.PID <= 0 {
		return audit.Process{}, false
	}
	return p, true
}

// isThere tells that somebody else has made the directory.
func isThere(err error) bool { return errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) }
