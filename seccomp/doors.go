package seccomp

import "golang.org/x/sys/unix"

// sideDoors returns the denials of every sandbox, whatever its profile. EPERM is the answer in
// general; ENOSYS is for calls that programs try only to learn whether the kernel has them, so that
// they fall back. eperm is the action that answers EPERM: by the filter, or by the supervisor,
// which also notes the caller.
func sideDoors(eperm Action) []Rule {
	enosys := noSuchCall
	rules := []Rule{
		{
			// A kernel with io_uring switched off answers EPERM. But every program must expect
			// ENOSYS, if it runs on kernels before 5.1. libuv falls back on either.
			Calls: []string{"io_uring_setup", "io_uring_enter", "io_uring_register"}, Do: enosys,
			Why: "io_uring makes calls that no filter sees",
		},
		{
			Calls: []string{"clone3"}, Do: enosys,
			Why: "its flags lie in memory, where no filter can check them; libc falls back to clone",
		},
		{
			// CLONE_NEWTIME is not part of the mask: its bit lies in the byte that clone(2) takes
			// for the exit signal, so only clone3 and unshare can request it.
			Calls: []string{"clone"}, Do: eperm, Args: []Arg{{Index: 0, Op: AnyBits, Mask: newNamespaces}},
			Why: "a new namespace gives capabilities that the sandbox must not have",
		},
		{
			Calls: []string{"unshare", "setns"}, Do: eperm,
			Why: "a new or another namespace gives capabilities that the sandbox must not have",
		},
		{
			Calls: []string{
				"mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount",
				"fspick", "move_mount", "open_tree", "open_tree_attr", "mount_setattr",
			}, Do: eperm,
			Why: "the sandbox is made of mounts",
		},
		{
			Calls: []string{"keyctl", "add_key", "request_key"}, Do: eperm,
			Why: "the caller's keyrings are not part of any namespace",
		},
		{
			Calls: []string{"bpf", "perf_event_open", "userfaultfd"}, Do: eperm,
			Why: "these look into the kernel, or hold it still, and are seldom without a hole",
		},
		{
			Calls: []string{"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot"}, Do: eperm,
			Why: "these replace or end the kernel",
		},
		{
			Calls: []string{
				"swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "settimeofday",
				"clock_settime", "sethostname", "setdomainname", "vhangup", "lookup_dcookie",
			}, Do: eperm,
			Why: "these administer the host",
		},
		{
			Calls: []string{"ioperm", "iopl"}, Do: eperm,
			Why: "these reach the machine's ports past every driver",
		},
		{
			Calls: []string{"open_by_handle_at"}, Do: eperm,
			Why: "a handle opens a file by its number, past every mount and directory",
		},
		{
			Calls: []string{"fanotify_init", "fanotify_mark"}, Do: eperm,
			Why: "it watches whole file systems, and can hold up those who use them",
		},
		{
			Calls: []string{"lsm_set_self_attr"}, Do: eperm,
			Why: "it changes the profile of the host's security module",
		},
	}
	return append(append(rules, singled(eperm)...), families(eperm)...)
}

// singled returns the side doors of calls that are denied only with some values of an argument.
func singled(eperm Action) []Rule {
	return []Rule{
		{
			Calls: []string{"ioctl"}, Do: eperm, Args: []Arg{{Index: 1, Op: Equal, Value: unix.TIOCSTI}},
			Why: "TIOCSTI types at the terminal, for the shell outside to read",
		},
		{
			Calls: []string{"ioctl"}, Do: eperm, Args: []Arg{{Index: 1, Op: Equal, Value: tioclinux}},
			Why: "TIOCLINUX pastes at a console, for the shell outside to read",
		},
		{
			Calls: []string{"ioctl"}, Do: eperm, Args: []Arg{{Index: 1, Op: MaskedEqual, Mask: btrfsVolumes.mask, Value: btrfsVolumes.value}},
			Why: "a snapshot by btrfs has what is hidden by a mount, and a subvolume is a name that no call makes",
		},
		{
			Calls: []string{"ioctl"}, Do: eperm, Args: []Arg{{Index: 1, Op: MaskedEqual, Mask: bcachefsVolumes.mask, Value: bcachefsVolumes.value}},
			Why: "a snapshot by bcachefs has what is hidden by a mount, and a subvolume is a name that no call makes",
		},
		{
			Calls: []string{"ioctl"}, Do: eperm, Args: []Arg{{Index: 1, Op: Equal, Value: addFileKey}},
			Why: "the keys of encrypted directories are the file system's, for the host as well",
		},
		{
			Calls: []string{"ioctl"}, Do: eperm, Args: []Arg{{Index: 1, Op: MaskedEqual, Mask: removeFileKey.mask, Value: removeFileKey.value}},
			Why: "without its key the host cannot read an encrypted directory of the same user's any more",
		},
		{
			Calls: []string{"prlimit64"}, Do: eperm, Args: []Arg{{Index: 0, Op: NotEqual, Value: 0}},
			Why: "another process's limits are not the caller's to set",
		},
		{
			Calls: []string{"setpriority"}, Do: eperm, Args: []Arg{{Index: 0, Op: Equal, Value: unix.PRIO_PGRP}},
			Why: "the command is in its caller's process group, and an ordinary user's processes outside would be slowed down",
		},
		{
			Calls: []string{"ioprio_set"}, Do: eperm, Args: []Arg{{Index: 0, Op: Equal, Value: ioprioGroup}},
			Why: "the command is in its caller's process group, and an ordinary user's processes outside would be slowed down",
		},
		{
			Calls: []string{"fcntl"}, Do: eperm, Args: []Arg{{Index: 1, Op: MaskedEqual, Mask: leases.mask, Value: leases.value}},
			Why: "a lease on a file that may only be read holds up whoever opens it on the host",
		},
	}
}

// newNamespaces are the flags of clone(2) that make a namespace.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// tioclinux is TIOCLINUX of asm-generic/ioctls.h, for amd64 and arm64 alike.
const tioclinux = 0x541c

// ioprioGroup is IOPRIO_WHO_PGRP of linux/ioprio.h.
const ioprioGroup = 2

// requests are numbers of ioctl(2) or fcntl(2) that have some bits in common.
type requests struct{ mask, value uint64 }

// btrfsVolumes are _IOW(0x94, N, struct btrfs_ioctl_vol_args) of linux/btrfs.h for any N, also with
// the second version of the struct, which has the same size: the requests that make and remove
// subvolumes and snapshots, and that administer devices. bcachefsVolumes are _IOW(0xbc, N, SIZE)
// for any N and SIZE: the same for bcachefs.
var (
	btrfsVolumes    = requests{0xffffff00, 0x50009400}
	bcachefsVolumes = requests{0xc000ff00, 0x4000bc00}
)

// addFileKey is FS_IOC_ADD_ENCRYPTION_KEY of linux/fscrypt.h, removeFileKey are
// FS_IOC_REMOVE_ENCRYPTION_KEY and FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS. Each works on any
// descriptor of the file system.
const addFileKey = 0xc0506617

var removeFileKey = requests{low &^ 1, 0xc0406618}

// leases are F_SETLEASE, and F_SETDELEG (Linux 6.19), which is 16 more.
var leases = requests{low &^ 16, unix.F_SETLEASE}

// socketCalls create sockets. socketpair creates only AF_UNIX sockets; the same rules for it cost
// nothing and make sbx independent of the kernel.
var socketCalls = []string{"socket", "socketpair"}

// sockType masks the type in socket(2)'s argument type; the rest are the flags SOCK_NONBLOCK and
// SOCK_CLOEXEC (SOCK_TYPE_MASK in linux/net.h).
const sockType = 0xf

// family returns the condition that a socket has that address family, and kind the condition that
// it has that type.
func family(f uint64) Arg { return Arg{Index: 0, Op: Equal, Value: f} }
func kind(t uint64) Arg   { return Arg{Index: 1, Op: MaskedEqual, Mask: sockType, Value: t} }

// families allows AF_UNIX, AF_INET, AF_INET6 and routing netlink. Other families are denied with
// EPERM, as in Docker's profile, and not with EAFNOSUPPORT: no known program continues after one
// but not after the other, and EPERM shows that the call was denied.
func families(eperm Action) []Rule {
	return []Rule{
		{
			Calls: socketCalls, Do: eperm,
			Args: []Arg{
				{Index: 0, Op: NotEqual, Value: unix.AF_UNIX},
				{Index: 0, Op: NotEqual, Value: unix.AF_INET},
				{Index: 0, Op: NotEqual, Value: unix.AF_INET6},
				{Index: 0, Op: NotEqual, Value: unix.AF_NETLINK},
			},
			Why: "address families such as AF_VSOCK, AF_PACKET and AF_ALG reach past the network namespace, or are seldom without a hole",
		},
		{
			Calls: socketCalls, Do: eperm,
			Args: []Arg{family(unix.AF_NETLINK), {Index: 2, Op: NotEqual, Value: unix.NETLINK_ROUTE}},
			Why:  "of netlink programs need the routing part alone, to list addresses",
		},
		{
			Calls: socketCalls, Do: eperm, Args: []Arg{family(unix.AF_INET), kind(unix.SOCK_RAW)},
			Why: "raw IP forges what the network rules look at",
		},
		{
			Calls: socketCalls, Do: eperm, Args: []Arg{family(unix.AF_INET6), kind(unix.SOCK_RAW)},
			Why: "raw IP forges what the network rules look at",
		},
		{
			Calls: socketCalls, Do: eperm, Args: []Arg{family(unix.AF_INET), kind(unix.SOCK_PACKET)},
			Why: "the kernel makes a packet socket of it (packet(7))",
		},
		{
			Calls: socketCalls, Do: eperm, Args: []Arg{family(unix.AF_INET6), kind(unix.SOCK_PACKET)},
			Why: "packet sockets are denied, by whichever name",
		},
	}
}

// pathnames returns the rules of Options.Unix.
func pathnames() []Rule {
	why := "a datagram goes to a socket of the host by its path, with no connect at which to stop it"
	return []Rule{
		{Calls: socketCalls, Do: Fail(unix.EPERM), Args: []Arg{family(unix.AF_UNIX), kind(unix.SOCK_DGRAM)}, Why: why},
		{
			// The kernel makes a datagram socket of SOCK_RAW (unix_create).
			Calls: socketCalls, Do: Fail(unix.EPERM), Args: []Arg{family(unix.AF_UNIX), kind(unix.SOCK_RAW)}, Why: why,
		},
		{
			// the answer of a kernel that lacks the option (before Linux 6.5)
			Calls: []string{"getsockopt"}, Do: Fail(unix.ENOPROTOOPT),
			Args: []Arg{{Index: 1, Op: Equal, Value: unix.SOL_SOCKET}, {Index: 2, Op: Equal, Value: unix.SO_PEERPIDFD}},
			Why:  "the supervisor makes the connects, and a descriptor of its process is nobody's inside",
		},
	}
}

// inet returns the rules of Options.NoInet.
func inet() []Rule {
	why := "the network is none, and there is no network namespace to use instead"
	return []Rule{
		{Calls: socketCalls, Do: Fail(unix.EPERM), Args: []Arg{family(unix.AF_INET)}, Why: why},
		{Calls: socketCalls, Do: Fail(unix.EPERM), Args: []Arg{family(unix.AF_INET6)}, Why: why},
	}
}

// fastOpen returns the rules of Options.NoFastOpen. The errno is that of a kernel with fast open
// switched off (tcp_fastopen in ip-sysctl.rst), after which programs connect first.
func fastOpen() []Rule {
	var rules []Rule
	for _, c := range []struct {
		call  string
		flags int
	}{{"sendto", 3}, {"sendmsg", 2}, {"sendmmsg", 3}} {
		rules = append(rules, Rule{Calls: []string{c.call}, Do: Fail(unix.EOPNOTSUPP), Args: []Arg{{Index: c.flags, Op: AnyBits, Mask: unix.MSG_FASTOPEN}},
			Why: "a connection would be made without a connect"})
	}
	return append(rules, Rule{Calls: []string{"setsockopt"}, Do: Fail(unix.EOPNOTSUPP),
		Args: []Arg{{Index: 1, Op: Equal, Value: unix.SOL_TCP}, {Index: 2, Op: Equal, Value: unix.TCP_FASTOPEN_CONNECT}},
		Why:  "a connection would be made when the connect is over, and another program may listen there by then"})
}

// deviceNodes returns the rules of Options.Root. The kernel requires CAP_MKNOD, which is dropped;
// but since a disk's node would give uid 0 everything, the filter denies it as well. A character
// device 0:0 is not a device: overlayfs takes it for a whiteout, and everybody may make one (Linux
// 5.8).
func deviceNodes() []Rule {
	why := "a device node is the device"
	var rules []Rule
	for _, c := range []struct {
		call string
		mode int
	}{{"mknod", 1}, {"mknodat", 2}} {
		is := func(format uint64) Arg {
			return Arg{Index: c.mode, Op: MaskedEqual, Mask: unix.S_IFMT, Value: format}
		}
		rules = append(rules,
			Rule{Calls: []string{c.call}, Do: Fail(unix.EPERM), Args: []Arg{is(unix.S_IFBLK)}, Why: why},
			Rule{
				Calls: []string{c.call}, Do: Fail(unix.EPERM), Why: why,
				Args: []Arg{is(unix.S_IFCHR), {Index: c.mode + 1, Op: NotEqual, Value: 0}},
			})
	}
	return rules
}
