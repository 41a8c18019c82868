package landlock

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// FSSet is a set of rights on files and directories (LANDLOCK_ACCESS_FS_*).
type FSSet uint64

// These are the rights on files and directories. The table of ABIs says which ABI added each.
const (
	Execute     FSSet = unix.LANDLOCK_ACCESS_FS_EXECUTE      // start a file as a program
	WriteFile   FSSet = unix.LANDLOCK_ACCESS_FS_WRITE_FILE   // open a file for writing
	ReadFile    FSSet = unix.LANDLOCK_ACCESS_FS_READ_FILE    // open a file for reading
	ReadDir     FSSet = unix.LANDLOCK_ACCESS_FS_READ_DIR     // open or list a directory
	RemoveDir   FSSet = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR   // remove or rename a directory in it
	RemoveFile  FSSet = unix.LANDLOCK_ACCESS_FS_REMOVE_FILE  // unlink or rename a file in it
	MakeChar    FSSet = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR    // make a character device
	MakeDir     FSSet = unix.LANDLOCK_ACCESS_FS_MAKE_DIR     // make a directory
	MakeReg     FSSet = unix.LANDLOCK_ACCESS_FS_MAKE_REG     // make a regular file
	MakeSock    FSSet = unix.LANDLOCK_ACCESS_FS_MAKE_SOCK    // make a Unix socket
	MakeFifo    FSSet = unix.LANDLOCK_ACCESS_FS_MAKE_FIFO    // make a named pipe
	MakeBlock   FSSet = unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK   // make a block device
	MakeSym     FSSet = unix.LANDLOCK_ACCESS_FS_MAKE_SYM     // make a symbolic link
	Refer       FSSet = unix.LANDLOCK_ACCESS_FS_REFER        // rename or link from one directory to another
	Truncate    FSSet = unix.LANDLOCK_ACCESS_FS_TRUNCATE     // truncate(2), and O_TRUNC
	IoctlDev    FSSet = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV    // ioctl(2) on a device
	ResolveUnix FSSet = unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX // connect or send to a Unix socket by its path
)

// These are useful sets.
const (
	// FSRead is to read files and to list directories.
	FSRead = ReadFile | ReadDir
	// FSReadExec is to read, list and start programs.
	FSReadExec = FSRead | Execute
	// FSWrite is to change, make, remove and rename everything that an ordinary user can: all that
	// FSRead leaves out, except devices.
	FSWrite = WriteFile | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock |
		MakeFifo | MakeSym | Refer | Truncate
	// FSAll is every right of the newest ABI in the table.
	FSAll = FSReadExec | FSWrite | MakeChar | MakeBlock | IoctlDev | ResolveUnix
	// FileOnly are the rights that a rule may give on a path that is not a directory: for any other
	// landlock_add_rule(2) fails with EINVAL.
	FileOnly = Execute | WriteFile | ReadFile | Truncate | IoctlDev | ResolveUnix
)

// NetSet is a set of rights on ports (LANDLOCK_ACCESS_NET_*).
type NetSet uint64

// These are the rights on ports.
const (
	BindTCP        NetSet = unix.LANDLOCK_ACCESS_NET_BIND_TCP         // bind(2) a TCP socket to a local port
	ConnectTCP     NetSet = unix.LANDLOCK_ACCESS_NET_CONNECT_TCP      // connect(2) a TCP socket to a remote port
	BindUDP        NetSet = unix.LANDLOCK_ACCESS_NET_BIND_UDP         // bind(2) a UDP socket, also implicitly
	ConnectSendUDP NetSet = unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP // connect(2) a UDP socket, or send to a port

	// NetAll is every right of the newest ABI in the table.
	NetAll = BindTCP | ConnectTCP | BindUDP | ConnectSendUDP
)

// ScopeSet is a set of ways out of the sandbox to close (LANDLOCK_SCOPE_*). Unlike rights, scopes
// have no rules that open them.
type ScopeSet uint64

// These are the scopes.
const (
	AbstractUnix ScopeSet = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET // connect to abstract sockets made outside
	Signal       ScopeSet = unix.LANDLOCK_SCOPE_SIGNAL               // signals to processes outside

	// ScopeAll is every scope of the newest ABI in the table.
	ScopeAll = AbstractUnix | Signal
)

// bit is a right of a set, with the kernel's name for it.
type bit struct {
	bit  uint64
	name string
}

var fsBits = [...]bit{
	{uint64(Execute), "execute"},
	{uint64(WriteFile), "write_file"},
	{uint64(ReadFile), "read_file"},
	{uint64(ReadDir), "read_dir"},
	{uint64(RemoveDir), "remove_dir"},
	{uint64(RemoveFile), "remove_file"},
	{uint64(MakeChar), "make_char"},
	{uint64(MakeDir), "make_dir"},
	{uint64(MakeReg), "make_reg"},
	{uint64(MakeSock), "make_sock"},
	{uint64(MakeFifo), "make_fifo"},
	{uint64(MakeBlock), "make_block"},
	{uint64(MakeSym), "make_sym"},
	{uint64(Refer), "refer"},
	{uint64(Truncate), "truncate"},
	{uint64(IoctlDev), "ioctl_dev"},
	{uint64(ResolveUnix), "resolve_unix"},
}

var netBits = [...]bit{
	{uint64(BindTCP), "bind_tcp"},
	{uint64(ConnectTCP), "connect_tcp"},
	{uint64(BindUDP), "bind_udp"},
	{uint64(ConnectSendUDP), "connect_send_udp"},
}

var scopeBits = [...]bit{
	{uint64(AbstractUnix), "abstract_unix_socket"},
	{uint64(Signal), "signal"},
}

// String lists the rights by name in the order of their bits, "execute, read_file"; "none" for the
// empty set. A bit without a name is written in hex.
func (s FSSet) String() string { return names(uint64(s), fsBits[:]) }

// String lists the rights by name, as FSSet's does.
func (s NetSet) String() string { return names(uint64(s), netBits[:]) }

// String lists the scopes by name, as FSSet's does.
func (s ScopeSet) String() string { return names(uint64(s), scopeBits[:]) }

func names(set uint64, bits []bit) string {
	var b strings.Builder
	add := func(name string) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
	}
	for _, x := range bits {
		if set&x.bit != 0 {
			add(x.name)
			set &^= x.bit
		}
	}
	if set != 0 {
		add("0x" + strconv.FormatUint(set, 16))
	}
	if b.Len() == 0 {
		return "none"
	}
	return b.String()
}
