package launch

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// mapIDs maps all of the caller's ids onto themselves and lets the child go on.
func (s *script) mapIDs() error {
	dir := "/proc/" + strconv.Itoa(s.pid)
	if err := writeFile(dir+"/uid_map", Map(s.opening.IDs.UIDs)); err != nil {
		return err
	}
	if err := writeFile(dir+"/gid_map", Map(s.opening.IDs.GIDs)); err != nil {
		return err
	}
	return s.word()
}

func writeFile(path, content string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		_, err = unix.Write(fd, []byte(content))
		unix.Close(fd)
	}
	if err != nil {
		e := stepError("write", err)
		e.Step.On = path
		return e
	}
	return nil
}
