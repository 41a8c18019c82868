package read

import (
	"strconv"
	"strings"
)

// MaxMountinfo is the maximum size read of mountinfo, in bytes: on hosts with many containers
// it has some thousands of lines.
const MaxMountinfo = 16 << 20

// Mount is a line of mountinfo, proc_pid_mountinfo(5): the directory Root of a file system is
// mounted at Path.
type Mount struct {
	ID, Parent int
	Device     string // major:minor
	Root, Path string
	Options    string // of the mount
	Type       string
	Super      string // the file system's own options
}

// Mounts parses a mountinfo file, with lines such as
//
//	36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/root rw
//
// It leaves malformed lines out.
func Mounts(text string) (list []Mount) {
	for line := range strings.Lines(text) {
		if m, ok := mountOf(strings.TrimSuffix(line, "\n")); ok {
			list = append(list, m)
		}
	}
	return list
}

func mountOf(line string) (m Mount, ok bool) {
	var f [6]string
	for i := range f {
		if f[i], line, ok = strings.Cut(line, " "); !ok {
			return m, false
		}
	}
	_, rest, ok := strings.Cut(" "+line, " - ")
	id, err := strconv.Atoi(f[0])
	parent, parentErr := strconv.Atoi(f[1])
	m = Mount{ID: id, Parent: parent, Device: f[2], Root: Unescape(f[3]), Path: Unescape(f[4]), Options: f[5]}
	m.Type, rest, _ = strings.Cut(rest, " ")
	_, m.Super, _ = strings.Cut(rest, " ")
	return m, ok && err == nil && parentErr == nil && m.Path != ""
}

// Unescape decodes the octal escapes (such as \040) that the kernel writes for space, tab,
// newline and backslash in the paths of mountinfo (proc_pid_mountinfo(5)).
func Unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && isOctal(s[i+1]) && isOctal(s[i+2]) && isOctal(s[i+3]) {
			b = append(b, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }
