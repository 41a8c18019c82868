package spec

// Paths is what Resolve may ask of the file system: what stands at a path, and
// what a link there holds. Both look at the last component itself, never
// through it. Errors are a Fault where one fits.
type Paths interface {
	Lstat(path string) (Info, error)
	Readlink(path string) (string, error)
}

// Info is what stands at a path.
type Info struct{ IsDir, IsLink bool }

// Fault is why a path cannot be resolved.
type Fault uint8

// The faults, each named for the errno that the kernel gives.
const (
	NoEntry      Fault = iota + 1 // ENOENT
	NotFolder                     // ENOTDIR
	TooManyLinks                  // ELOOP
	NoAccess                      // EACCES
	NameTooLong                   // ENAMETOOLONG
)

// Error is the fault in words.
func (f Fault) Error() string {
	switch f {
	case NoEntry:
		return "no such file or directory"
	case NotFolder:
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
