package listen

import "golang.org/x/sys/unix"

// pathArg gives the positions of a call's directory descriptor and path arguments. dir
// is -1 for a path relative to the current directory; path is -1 for no path.
type pathArg struct{ dir, path int8 }

var nowhere = pathArg{-1, -1}

// nameCall is a system call that creates a name, removes one, or both.
type nameCall struct {
	makes, takes pathArg
	swap         int8    // the argument with RENAME_EXCHANGE and RENAME_NOREPLACE; -1 for none
	copies       pathArg // the existing file of link(2), which gets a second name
	action       string
}

// nameCalls are the calls of seccomp.NotifyNames and NotifyRefused.
var nameCalls = map[string]nameCall{
	"mkdir":     {pathArg{-1, 0}, nowhere, -1, nowhere, makeDir},
	"mkdirat":   {pathArg{0, 1}, nowhere, -1, nowhere, makeDir},
	"mknod":     {pathArg{-1, 0}, nowhere, -1, nowhere, "create"},
	"mknodat":   {pathArg{0, 1}, nowhere, -1, nowhere, "create"},
	"symlink":   {pathArg{-1, 1}, nowhere, -1, nowhere, MakeLink},
	"symlinkat": {pathArg{1, 2}, nowhere, -1, nowhere, MakeLink},
	"link":      {pathArg{-1, 1}, nowhere, -1, pathArg{-1, 0}, MakeLink},
	"linkat":    {pathArg{2, 3}, nowhere, -1, pathArg{0, 1}, MakeLink},
	"rename":    {pathArg{-1, 1}, pathArg{-1, 0}, -1, nowhere, "rename"},
	"renameat":  {pathArg{2, 3}, pathArg{0, 1}, -1, nowhere, "rename"},
	"renameat2": {pathArg{2, 3}, pathArg{0, 1}, 4, nowhere, "rename"},
	"unlink":    {nowhere, pathArg{-1, 0}, -1, nowhere, "remove"},
	"unlinkat":  {nowhere, pathArg{0, 1}, -1, nowhere, "remove"},
	"rmdir":     {nowhere, pathArg{-1, 0}, -1, nowhere, removeDir},
}

// openCall gives the positions of an open's arguments: flags, or how for a struct
// open_how; -1 for none. With neither the flags are always fixed.
type openCall struct {
	at         pathArg
	flags, how int8
	fixed      uint64
	action     string // as reported for a file that exists
}

// openCalls are those of seccomp.NotifyOpens, and openat2. The kernel denies truncate wherever it
// would deny opening for writing.
var openCalls = map[string]openCall{
	"open":     {at: pathArg{-1, 0}, flags: 1, how: -1, action: "open for writing"},
	"openat":   {at: pathArg{0, 1}, flags: 2, how: -1, action: "open for writing"},
	"creat":    {at: pathArg{-1, 0}, flags: -1, how: -1, fixed: unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC, action: "open for writing"},
	"openat2":  {at: pathArg{0, 1}, flags: -1, how: 2, action: "open for writing"},
	"truncate": {at: pathArg{-1, 0}, flags: -1, how: -1, fixed: unix.O_WRONLY, action: "truncate"},
}

// lookCalls are the calls of seccomp.Options.Looks and the positions of their path
// arguments.
var lookCalls = map[string]pathArg{
	"access":     {-1, 0},
	"faccessat":  {0, 1},
	"faccessat2": {0, 1},
	"lstat":      {-1, 0},
	"newfstatat": {0, 1},
	"open":       {-1, 0},
	"openat":     {0, 1},
	"openat2":    {0, 1},
	"readlink":   {-1, 0},
	"readlinkat": {0, 1},
	"stat":       {-1, 0},
	"statx":      {0, 1},
}

// argument is a path argument of a system call: the directory descriptor that a relative
// path counts from and the path's address in the caller's memory.
type argument struct {
	dirfd int32
	addr  uint64
}

func (c *caller) argument(s pathArg) argument {
	a := argument{dirfd: unix.AT_FDCWD, addr: c.call.Args[s.path]}
	if s.dir >= 0 {
		a.dirfd = int32(c.call.Args[s.dir])
	}
	return a
}
