package audit

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/sys"
	"sbx/spec"
)

// Sink writes the record of one run. It opens the directory once and works relative to its
// descriptor, so that renaming or replacing the directory meanwhile changes nothing.
type Sink struct {
	path  string // of the record, for messages
	base  string // its last component
	dir   int    // the directory, O_PATH
	named bool   // --effective or $SBX_EFFECTIVE names it
	begun bool   // the record has been written once

	state string // the state directory; "" for none
	id    string
	run   int // this run's own directory, -1 until it is opened
}

// Open finds where the record goes: effective (--effective), else $SBX_EFFECTIVE, else
// effective.json in the run's own directory. It opens that directory, and makes the state
// directories, but writes nothing yet. realDir is the directory of the named file with symbolic
// links resolved, if the caller has found it; "" leaves that to Open. An error is a
// *spec.Problem, and the command must not start.
func Open(effective spec.Opt[string], realDir string, environ []string, home, id string) (*Sink, error) {
	s := &Sink{state: StateDir(environ, home), id: id, dir: -1, run: -1}
	if !effective.Set {
		if v := sys.Variable(environ, "SBX_EFFECTIVE"); v != "" {
			effective = spec.Some(v)
		}
	}
	var err error
	if effective.Set {
		err = s.openNamed(effective.Value, realDir)
	} else {
		err = s.openRun()
	}
	if err != nil {
		s.free()
		return nil, err
	}
	return s, nil
}

func cannotWrite(path, why, help string) error {
	return &spec.Problem{On: path, Do: "write the record", Why: why, Help: help}
}

// openNamed opens the directory of a file that the user named. It makes no directories.
func (s *Sink) openNamed(path, realDir string) error {
	s.path, s.named = path, true
	i := strings.LastIndexByte(path, '/')
	parent := "."
	if i >= 0 {
		parent = path[:i+1]
	}
	s.base = path[i+1:]
	switch {
	case path == "":
		return cannotWrite(`""`, "the name is empty", "name a file: --effective FILE")
	case strings.IndexByte(path, 0) >= 0:
		return cannotWrite(strings.ReplaceAll(path, "\x00", `\x00`), "a name cannot hold a null byte", "name a file: --effective FILE")
	case s.base == "" || s.base == "." || s.base == "..":
		return cannotWrite(path, "it is a directory", "name a file in it: "+strings.TrimRight(path, "/")+"/effective.json")
	}
	var err error
	if realDir != "" {
		s.dir, err = dirs.OpenReal(realDir, unix.O_PATH|unix.O_DIRECTORY)
	} else {
		s.dir, err = dirs.Open(unix.AT_FDCWD, parent, unix.O_PATH|unix.O_DIRECTORY, 0)
	}
	if err != nil {
		return cannotWrite(path, "its directory cannot be opened: "+err.Error(), "make the directory first, sbx does not")
	}
	return s.mayReplace()
}

// mayReplace returns an error if the record would replace something other than a regular file. As
// root, --effective /dev/null would otherwise remove the machine's /dev/null.
func (s *Sink) mayReplace() error {
	var st unix.Stat_t
	err := unix.Fstatat(s.dir, s.base, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return cannotWrite(s.path, err.Error(), "")
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return cannotWrite(s.path, "it is a directory", "name a file in it: "+s.path+"/effective.json")
	case unix.S_IFREG:
		return nil
	case unix.S_IFLNK:
		// A link is replaced, not followed, but the links in /dev belong to the machine.
		if dev := (unix.Stat_t{}); unix.Stat("/dev", &dev) == nil {
			var dir unix.Stat_t
			if unix.Fstat(s.dir, &dir) == nil && dir.Dev == dev.Dev && dir.Ino == dev.Ino {
				break
			}
		}
		return nil
	}
	return cannotWrite(s.path, "it is not a regular file, and the record would take its place", "name a file: --effective FILE")
}

// Path returns the path of the record, for messages.
func (s *Sink) Path() string { return s.path }

// usualRecord is larger than most records. A buffer that grew to this size would leave smaller
// ones behind, each in pages of its own.
const usualRecord = 8 << 10

// Write writes the record, whole or not at all. It does not wait for the disk: after a crash of
// the machine the boot id shows that the run is over.
func (s *Sink) Write(r Record) error {
	return s.replace(r.AppendJSON(make([]byte, 0, usualRecord)), false)
}

// Put is Write for the text of a record.
func (s *Sink) Put(text []byte) error { return s.replace(text, false) }

// Close writes the final record and closes the directories. A record that the user named is on
// the disk when Close returns.
func (s *Sink) Close(r Record) error {
	defer s.free()
	return s.replace(r.AppendJSON(make([]byte, 0, usualRecord)), s.named)
}

func (s *Sink) free() {
	for _, fd := range []*int{&s.dir, &s.run} {
		if *fd >= 0 {
			dirs.Close(*fd)
		}
		*fd = -1
	}
}

// replace writes a temporary file in the record's directory and renames it to the record.
func (s *Sink) replace(b []byte, sync bool) error {
	if s.dir < 0 {
		return cannotWrite(s.path, "it is closed", "")
	}
	keep := ""
	if !s.named {
		keep = launchName
	}
	err := replaceAt(s.dir, s.base, keep, b, sync)
	if err == unix.EACCES && s.begun && s.reopen() {
		err = replaceAt(s.dir, s.base, keep, b, sync)
	}
	if err != nil {
		help := ""
		if err == unix.ENOSPC || err == unix.EDQUOT || err == unix.EROFS || err == unix.EACCES {
			help = "name another place: --effective FILE"
		}
		return cannotWrite(s.path, err.Error(), help)
	}
	s.begun = true
	return nil
}

// reopen makes the record's directory writable again, if its owner may: the command could change
// the directory's mode since the first record.
func (s *Sink) reopen() bool {
	var st unix.Stat_t
	return unix.Stat(dirs.FDPath(s.dir), &st) == nil && st.Mode&0o300 != 0o300 && unix.Chmod(dirs.FDPath(s.dir), st.Mode&0o7777|0o700) == nil
}

// launchName is the name of the record from before the final one, in a run's own directory. Sbx
// keeps that file because on ext4 removing it would be slow: within seconds of a removal, each
// new file takes half a millisecond.
const launchName = "launch.json"

// replaceAt makes b the content of the file base in dir. It renames the old file to keep, or
// removes it if keep is "".
func replaceAt(dir int, base, keep string, b []byte, sync bool) error {
	temp, fd, err := createTemp(dir, keep)
	if err != nil {
		return err
	}
	err = sys.WriteAll(fd, b)
	if err == nil && sync {
		err = fsync(fd)
	}
	if e := unix.Close(fd); err == nil && e != unix.EINTR {
		err = e
	}
	if err == nil {
		err = takePlace(dir, temp, base, keep)
	}
	if err != nil {
		_ = unix.Unlinkat(dir, temp, 0)
		return err
	}
	if sync {
		syncDir(dir)
	}
	return nil
}

// takePlace renames temp to base. If base exists, takePlace exchanges the two and then removes the
// old file, or renames it to keep: readers see no difference, and the start of a command does not
// wait for the disk, as it would on ext4, which writes a file out before a rename replaces
// another (auto_da_alloc).
func takePlace(dir int, temp, base, keep string) error {
	err := unix.Renameat2(dir, temp, dir, base, unix.RENAME_NOREPLACE)
	if err == unix.EEXIST {
		if err = unix.Renameat2(dir, temp, dir, base, unix.RENAME_EXCHANGE); err == nil {
			if keep == temp {
				return nil
			}
			if keep != "" {
				return unix.Renameat(dir, temp, dir, keep)
			}
			if err = unix.Unlinkat(dir, temp, 0); err == unix.EISDIR {
				// A directory was created there after Open; exchange it back.
				_ = unix.Renameat2(dir, temp, dir, base, unix.RENAME_EXCHANGE)
			}
			return err
		}
	}
	if err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOENT {
		return unix.Renameat(dir, temp, dir, base)
	}
	return err
}

// tempPrefix is the prefix of the names of temporary files.
const tempPrefix = ".sbx-"

// createTemp makes a new file in dir, named first if that is not "" and not taken, else with a
// random name.
func createTemp(dir int, first string) (string, int, error) {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	if first != "" {
		if fd, err := dirs.Open(dir, first, flags, 0o600); err != unix.EEXIST {
			return first, fd, err
		}
	}
	for tries := 0; ; tries++ {
		random, err := RandomHex()
		if err != nil {
			return "", -1, err
		}
		name := tempPrefix + random
		fd, err := dirs.Open(dir, name, flags, 0o600)
		if err == unix.EEXIST && tries < 100 {
			continue
		}
		return name, fd, err
	}
}

func fsync(fd int) error {
	for {
		if err := unix.Fsync(fd); err != unix.EINTR {
			return err
		}
	}
}

// syncDir writes a rename to the disk. It cannot open a directory that is not readable; the
// file itself is on the disk all the same.
func syncDir(dir int) {
	fd, err := dirs.Open(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return
	}
	_ = fsync(fd)
	dirs.Close(fd)
}
