package oci

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/oci/front"
)

// shelf is a container's directory of state, which exists as long as the container. It lies on
// a file system that a reboot empties.
type shelf struct {
	dir  string
	held int
	lock int // the descriptor of dir that claim has locked
}

// unlock ends the claim, before this process ends.
func (s *shelf) unlock() { unix.Close(s.lock) }

// put writes a file for the runtime and for later verbs, readable by the owner only since the
// files contain the container's variables. sbx-init reads wallsFile as the container's user.
func (s *shelf) put(name string, b []byte) error {
	mode := os.FileMode(0o600)
	if name == wallsFile {
		mode = 0o644
	}
	return os.WriteFile(s.dir+"/"+name, b, mode)
}

// replace writes a file atomically over the existing one.
func (s *shelf) replace(name string, b []byte) error {
	if err := s.put(tempFile, b); err != nil {
		return err
	}
	return os.Rename(s.dir+"/"+tempFile, s.dir+"/"+name)
}

// free marks the container as one whose later verbs package front hands on at once. The mark is a
// symlink to the runtime that creates the container.
func (s *shelf) free(inner string) error { return os.Symlink(inner, s.dir+"/"+front.Free) }

// errTaken means that a container of this name exists or is being created.
var errTaken = errors.New("there is a container of this name")

// claim creates and locks the directory until this process ends. It removes the files that an
// earlier container of that name left, unless exists reports that this container still lives
// without a supervisor: its state must stay.
func (s *shelf) claim(exists func() bool) error {
	if err := os.MkdirAll(filepath.Dir(s.dir), 0o711); err != nil {
		return err
	}
	for {
		made := os.Mkdir(s.dir, 0o711)
		fd, err := unix.Open(s.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err == unix.ENOENT { // deleted meanwhile
			continue
		}
		if err != nil {
			return err
		}
		var own, now unix.Stat_t
		switch err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); {
		case err == unix.EWOULDBLOCK || err == nil && made != nil && exists():
			unix.Close(fd)
			return errTaken
		case err != nil:
			unix.Close(fd)
			return err
		case unix.Fstat(fd, &own) == nil && unix.Stat(s.dir, &now) == nil && own.Ino == now.Ino:
			if s.lock = fd; made == nil {
				return nil
			}
			return s.empty()
		}
		unix.Close(fd)
	}
}

// begin creates the directory for hold.
func (s *shelf) begin() error { return os.MkdirAll(s.dir+"/held", 0o711) }

// hold opens rest under base, a path that the engine has chosen, without following symlinks, and
// bind-mounts the result in the shelf, from where the runtime bind-mounts it. A process that can
// write under base could otherwise replace rest by a symlink meanwhile. seen is a descriptor of what
// sbx-oci has seen at base; -1 for any.
func (s *shelf) hold(base, rest string, seen int) (path string, as source, err error) {
	dir, err := unix.Open(base, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", as, err
	}
	defer unix.Close(dir)
	if seen >= 0 && fileOf(dir) != fileOf(seen) {
		return "", as, errors.New("something else is at " + base + " than a moment ago")
	}
	if rest == "" {
		as, err = sourceOf(dir)
		return base, as, err
	}
	fd, err := unix.Openat2(dir, rest, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return "", as, err
	}
	defer unix.Close(fd)
	if as, err = sourceOf(fd); err != nil {
		return "", as, err
	}
	s.held++
	path = s.dir + "/held/" + strconv.Itoa(s.held)
	if as.IsFile {
		err = os.WriteFile(path, nil, 0o600)
	} else {
		err = os.Mkdir(path, 0o711)
	}
	if err != nil {
		return "", as, err
	}
	if err = unix.Mount("/proc/self/fd/"+strconv.Itoa(fd), path, "", unix.MS_BIND|unix.MS_REC, ""); err == nil {
		// Otherwise the unmount in release would propagate through a shared mount to the host's
		// mounts.
		err = unix.Mount("", path, "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	return path, as, err
}

// fileSystem mounts a read-only tmpfs with sbx-init in the shelf, until release.
func (s *shelf) fileSystem(program []byte) (path string, err error) {
	s.held++
	dir := s.dir + "/held/" + strconv.Itoa(s.held)
	path = dir + "/sbx-init"
	if err = os.Mkdir(dir, 0o711); err == nil {
		err = unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755")
	}
	if err == nil {
		err = unix.Mount("", dir, "", unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = os.WriteFile(path, program, 0o755)
	}
	if err == nil {
		err = unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
	}
	if err != nil {
		err = &os.PathError{Op: "make a file system for sbx-init", Path: dir, Err: err}
	}
	return path, err
}

// source is the file or directory that a bind mount shows.
type source struct {
	IsFile bool     // anything but a directory
	Held   []string // the restricting options of the mount on which it lies (statvfs(3))
}

func sourceOf(fd int) (as source, err error) {
	var file unix.Stat_t
	if err := unix.Fstat(fd, &file); err != nil {
		return as, os.NewSyscallError("fstat", err)
	}
	as.IsFile = file.Mode&unix.S_IFMT != unix.S_IFDIR
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return as, os.NewSyscallError("fstatfs", err)
	}
	for _, o := range []struct {
		flag int64
		name string
	}{{unix.ST_RDONLY, "ro"}, {unix.ST_NOEXEC, "noexec"}, {unix.ST_NOATIME, "noatime"}, {unix.ST_NODIRATIME, "nodiratime"}, {noSymFollow, "nosymfollow"}} {
		if st.Flags&o.flag != 0 {
			as.Held = append(as.Held, o.name)
		}
	}
	return as, nil
}

const noSymFollow = 0x2000 // ST_NOSYMFOLLOW, Linux 5.10

// release removes the mounts of hold, since the container has its own mounts by now. It removes
// only empty directories, and files that are not mount points.
func (s *shelf) release() error {
	for unix.Unmount(s.dir+"/"+rootDir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) == nil {
	}
	entries, err := os.ReadDir(s.dir + "/held")
	if os.IsNotExist(err) {
		return nil
	}
	for _, e := range entries {
		path := s.dir + "/held/" + e.Name()
		for unix.Unmount(path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) == nil {
		}
		err = errors.Join(err, os.Remove(path))
	}
	return errors.Join(err, os.Remove(s.dir+"/held"))
}

// The files of a shelf.
const (
	configFile    = "config.json"
	tempFile      = ".config.json"
	wallsFile     = "walls"
	narrowingFile = "narrowing.json"
	pidFile       = "pid" // of the container's first process
	doorFile      = "supervisor"
	lifeFile      = "alive" // locked by the supervisor while it lives
	rootDir       = "root"  // the container's root, if shelf.root made one
)

// drop empties and removes the directory.
func (s *shelf) drop() error {
	err := s.empty()
	if e := os.Remove(s.dir); e != nil && !os.IsNotExist(e) {
		err = errors.Join(err, e)
	}
	return err
}

// empty removes the directory's contents.
func (s *shelf) empty() error {
	err := s.release()
	for _, name := range []string{configFile, tempFile, wallsFile, front.Free, narrowingFile, pidFile, doorFile, lifeFile, rootDir} {
		if e := os.Remove(s.dir + "/" + name); e != nil && !os.IsNotExist(e) {
			err = errors.Join(err, e)
		}
	}
	return err
}
