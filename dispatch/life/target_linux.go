package life

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/dispatch"
	"sbx/internal/view"
	"sbx/spec"
)

// target is an output file. Its directory is opened before the command runs, so that the
// command cannot redirect the output elsewhere by replacing the directory or the file.
type target struct {
	root *os.Root // nil for /dev/null
	name string
	path string
}

// openTarget opens the directory of an output file of a job.
func (w *World) openTarget(j *Job, path string) (*target, error) {
	cannot := func(why, help string) error {
		return &spec.Problem{On: path, Do: "write the output", Why: why, Help: help}
	}
	if path == os.DevNull {
		return &target{path: path}, nil
	}
	dir, name := filepath.Split(path)
	if name == "" || name == "." || name == ".." {
		return nil, cannot("it names a directory", "name a file in it")
	}
	p, refusal := w.Follow(j, dir)
	if refusal != nil {
		if refusal.Help == "" {
			refusal.Why, refusal.Help = "its directory cannot be opened: "+refusal.Why, "make the directory first"
		}
		refusal.On, refusal.Do = path, "write the output"
		return nil, refusal
	}
	if real := p.Real; view.Within(real, "/dev") && !view.Within(real, "/dev/shm") {
		return nil, cannot("files in /dev are the machine's", "name a file elsewhere, or /dev/null")
	}
	root, err := openRoot(p.Real)
	if err != nil {
		return nil, cannot("its directory cannot be opened: "+dispatch.WithoutPath(err), "make the directory first")
	}
	if err := unix.Access(p.Real, unix.W_OK|unix.X_OK); err != nil { // checked now, so that the user learns it before the command runs
		_ = root.Close()
		return nil, cannot("its directory may not be written: "+err.Error(), "make the directory writable, or name another file")
	}
	t := &target{root: root, name: name, path: path}
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() && info.Mode()&os.ModeSymlink == 0 {
		_ = t.Close()
		return nil, cannot("it is not a regular file, and the output would take its place", "name another file")
	}
	return t, nil
}

// Close closes the directory.
func (t *target) Close() error {
	if t.root == nil {
		return nil
	}
	return t.root.Close()
}

// create replaces the file with name+suffix by a new, empty one, and returns it open.
func (t *target) create(suffix string) (*os.File, error) {
	if t.root == nil {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	var temp string
	var f *os.File
	var err error
	for range 100 {
		temp = ".sbx-" + strconv.FormatUint(rand.Uint64(), 36)
		if f, err = t.root.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); !errors.Is(err, os.ErrExist) {
			break
		}
	}
	if err == nil {
		if err = t.root.Rename(temp, t.name+suffix); err != nil {
			_ = f.Close()
			_ = t.root.Remove(temp)
		}
	}
	if err != nil {
		return nil, &spec.Problem{On: t.path + suffix, Do: "write the output", Why: dispatch.WithoutPath(err), Help: "make the directory writable, or name another file"}
	}
	return f, nil
}

// replace replaces the file with name+suffix by one that contains b.
func (t *target) replace(suffix string, b []byte) error {
	if t.root == nil {
		return nil
	}
	f, err := t.create(suffix)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// tail returns the last size bytes of a regular file.
func tail(f *os.File, size int64) string {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	from := max(info.Size()-size, 0)
	b, err := io.ReadAll(io.NewSectionReader(f, from, size))
	if err != nil {
		return ""
	}
	return string(b)
}
