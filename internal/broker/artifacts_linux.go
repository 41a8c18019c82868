package broker

import (
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/broker/document"
	"sbx/internal/doc"
	"sbx/internal/read"
)

// Artifact is a file that a step made.
type Artifact struct {
	Path   string // as /output/…
	Size   int64
	SHA256 string
}

func (a *Artifact) write(w *doc.Writer) {
	w.KeyStr("path", a.Path)
	w.KeyInt("size", a.Size)
	w.KeyStr("sha256", a.SHA256)
}

const (
	output     = "/output/"
	maxOutputs = 10000 // of the files in /output
	maxListed  = 100   // of the unexpected files
)

// fileStamp changes whenever a file is created or written: no program can set a ctime.
type fileStamp struct {
	dev, ino    uint64
	size        int64
	csec, cnsec int64
	mode        uint32
	alone       bool // it has no other hard link
}

func stampOf(st *unix.Stat_t) fileStamp {
	return fileStamp{st.Dev, st.Ino, st.Size, st.Ctim.Sec, st.Ctim.Nsec, st.Mode, st.Nlink == 1}
}

// outputs is the state of /output before a step.
type outputs struct {
	dir    int // the host's directory, opened; -1 for none
	before map[string]fileStamp
}

// openOutputs reads the state of the host's directory, if there is one.
func openOutputs(dir string) (*outputs, error) {
	o := &outputs{dir: -1}
	if dir == "" {
		return o, nil
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return o, errors.New("/output cannot be opened: " + err.Error())
	}
	o.dir = fd
	if o.before, err = o.list(); err != nil {
		o.close()
	}
	return o, err
}

func (o *outputs) close() {
	if o.dir >= 0 {
		_ = unix.Close(o.dir)
		o.dir = -1
	}
}

// beneath opens a path in the directory without following links.
func (o *outputs) beneath(rel string, flags uint64) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	return unix.Openat2(o.dir, rel, &how)
}

// list returns all files in the directory and below it, without directories.
func (o *outputs) list() (map[string]fileStamp, error) {
	all := map[string]fileStamp{}
	var reader read.Dir
	for dirs := []string{"."}; len(dirs) > 0; {
		rel := dirs[0]
		dirs = dirs[1:]
		fd, err := o.beneath(rel, unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			continue // it was removed, or replaced by a link
		}
		_ = reader.Each(fd, func(name []byte, _ byte) bool {
			var st unix.Stat_t
			switch at := path.Join(rel, string(name)); {
			case unix.Fstatat(fd, string(name), &st, unix.AT_SYMLINK_NOFOLLOW) != nil:
			case st.Mode&unix.S_IFMT == unix.S_IFDIR:
				dirs = append(dirs, at)
			default:
				all[at] = stampOf(&st)
			}
			return len(all)+len(dirs) <= maxOutputs
		})
		_ = unix.Close(fd)
		if len(all)+len(dirs) > maxOutputs {
			return nil, errors.New("/output has more than " + strconv.Itoa(maxOutputs) + " files")
		}
	}
	return all, nil
}

// verify checks each file that the step was to make, and lists the other files that it
// made.
func (o *outputs) verify(expected []document.Artifact) (made []Artifact, unexpected []string, err error) {
	for i := range expected {
		m, err := o.one(&expected[i])
		if err != nil {
			return nil, nil, errors.New(expected[i].Path + ": " + err.Error())
		}
		made = append(made, m)
	}
	after, err := o.list()
	if err != nil {
		return nil, nil, err
	}
	for path, now := range after {
		if now != o.before[path] && !slices.ContainsFunc(expected, func(a document.Artifact) bool { return a.Path == output+path }) {
			unexpected = append(unexpected, output+path)
		}
	}
	slices.Sort(unexpected)
	return made, unexpected[:min(len(unexpected), maxListed)], nil
}

// one checks a file through one descriptor, so that the hashed file is the checked one. It
// opens the file for reading only once it is known to be a regular file: opening a FIFO or
// a device has effects.
func (o *outputs) one(a *document.Artifact) (m Artifact, err error) {
	rel := a.Path[len(output):]
	fd, err := o.beneath(rel, unix.O_PATH)
	switch {
	case err == unix.ELOOP || err == unix.EXDEV:
		return m, errors.New("a link is on the way")
	case err != nil:
		return m, errors.New("it was not made: " + err.Error())
	}
	defer func() { _ = unix.Close(fd) }()
	var st, end, named unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return m, err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return m, errors.New("it is not a regular file")
	case st.Nlink != 1:
		return m, errors.New("it has another name")
	case stampOf(&st) == o.before[rel]:
		return m, errors.New("it was not made in this step")
	case st.Size < a.Min || st.Size > a.Max:
		return m, errors.New("it has " + strconv.FormatInt(st.Size, 10) + " bytes, not " + strconv.FormatInt(a.Min, 10) + " to " + strconv.FormatInt(a.Max, 10))
	}
	file, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return m, errors.New("it cannot be opened")
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(file, st.Size+1)); err != nil {
		return m, err
	}
	m = Artifact{Path: a.Path, Size: st.Size, SHA256: doc.Hex(hash.Sum(nil))}
	again, err := o.beneath(rel, unix.O_PATH)
	if err == nil {
		err = unix.Fstat(again, &named)
		_ = unix.Close(again)
	}
	if err2 := unix.Fstat(fd, &end); err != nil || err2 != nil || stampOf(&end) != stampOf(&st) || stampOf(&named) != stampOf(&st) {
		return m, errors.New("it changed while it was looked at")
	}
	if a.SHA256 != "" && a.SHA256 != m.SHA256 {
		return m, errors.New("its SHA-256 is " + m.SHA256)
	}
	return m, nil
}
