package life

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// live is the file by which Intercore and a status line learn what a driver is
// at, by its pid.
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

// write puts the file in place. Its directory is everybody's: the file is made under
// a name that nobody has, and takes the other's place without following it.
// Where that cannot be, there is no live file: nothing depends on it.
func (l *live) write() {
	b, err := json.Marshal(l)
	if err != nil || string(b) == l.last {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(l.path), strings.TrimSuffix(filepath.Base(l.path), ".json")+".*.tmp")
	if err != nil {
		return
	}
	_ = f.Chmod(0o644) // a status line of another user's may read it, as Clavain's
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

// remove takes the file away, if it is one.
func (l *live) remove() {
	if info, err := os.Lstat(l.path); err == nil && info.Mode().IsRegular() {
		_ = os.Remove(l.path)
	}
}
