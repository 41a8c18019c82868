package life

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// live is a file that shows Intercore and status lines the progress of a driver. Its name
// has the driver's PID.
type live struct {
	path string
	last string

	Name     string `json:"name"`
	Workdir  string `json:"workdir"`
	Started  int64  `json:"started"`
	Activity string `json:"activity"`
	Turns    int64  `json:"turns"`
	Commands int64  `json:"commands"`
	Messages int64  `json:"messages"`
}

func newLive(dir string, pid int, name, project string, started time.Time) *live {
	return &live{path: filepath.Join(dir, "clavain-dispatch-"+strconv.Itoa(pid)+".json"),
		Name: name, Workdir: project, Started: started.Unix(), Activity: "starting"}
}

// write replaces the file. All users may write its directory, so the new file is created
// under a unique name and renamed, which follows no link. Errors are ignored: nothing
// depends on the file.
func (l *live) write() {
	b, err := json.Marshal(l)
	if err != nil || string(b) == l.last {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(l.path), strings.TrimSuffix(filepath.Base(l.path), ".json")+".*.tmp")
	if err != nil {
		return
	}
	_ = f.Chmod(0o644) // for status lines of other users, such as Clavain's
	_, err = f.Write(append(b, '\n'))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), l.path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return
	}
	l.last = string(b)
}

// remove removes the file, if it is a regular file.
func (l *live) remove() {
	if info, err := os.Lstat(l.path); err == nil && info.Mode().IsRegular() {
		_ = os.Remove(l.path)
	}
}
