package spec

// Paths is Resolve's only access to the file system: the type of a file and the target of a
// symlink. Neither method follows a symlink in the last component. Errors are a Fault if one
// fits.
type Paths interface {
	Lstat(path string) (Info, error)
	Readlink(path string) (string, error)
}

// Info is the type of a file.
type Info struct{ IsDir, IsLink bool }

// Fault is the reason why a path cannot be resolved.
type Fault uint8

// The faults, each named for the errno that the kernel gives.
const (
	NoEntry      Fault = iota + 1 // ENOENT
	NotDirectory                  // ENOTDIR
	TooManyLinks                  // ELOOP
	NoAccess                      // EACCES
	NameTooLong                   // ENAMETOOLONG
)

// Error returns the fault in words.
func (f Fault) Error() string {
	switch f {
	case NoEntry:
		return "no such file or directory"
	case NotDirectory:
		return "a part of the path is not a directory"
	case TooManyLinks:
		return "too many symbolic links"
	case NoAccess:
		return "permission denied"
	case NameTooLong:
		return "name too long"
	}
	return "unknown fault"
}
