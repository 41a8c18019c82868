package defaults

// Row is a row of a table: a path or name, and the reason why it is there.
type Row struct{ Path, Why string }

// RunKept lists what stays in view of a private /run, read-only. Everything else in /run is a way
// to talk to a service of the host: the sockets of Docker, containerd, podman, D-Bus and the
// desktop session.
//
// Decided against: /run/nscd and /run/systemd/userdb (sockets of services that answer for the whole
// host; without them libc reads the files and asks the resolver itself), /run/utmp (who is logged
// in), /run/secrets and /run/credentials (secrets), /run/udev (devices), /run/dbus (a way to
// control the host).
func RunKept() []Row { return runKept[:] }

var runKept = [...]Row{
	{"/run/NetworkManager/no-stub-resolv.conf", "resolv.conf of NetworkManager without the local stub"},
	{"/run/NetworkManager/resolv.conf", "/etc/resolv.conf is a link to it under NetworkManager"},
	{"/run/booted-system", "NixOS: the system that was booted, for its kernel modules and tools"},
	{"/run/connman/resolv.conf", "/etc/resolv.conf is a link to it under ConnMan"},
	{"/run/current-system", "NixOS and Guix: every program of the system is found through it"},
	{"/run/opengl-driver", "NixOS: the graphics libraries that programs load by this path"},
	{"/run/opengl-driver-32", "NixOS: the same for 32-bit programs"},
	{"/run/resolvconf/resolv.conf", "/etc/resolv.conf is a link to it under resolvconf"},
	{"/run/systemd/resolve/resolv.conf", "the real name servers under systemd-resolved"},
	{"/run/systemd/resolve/stub-resolv.conf", "/etc/resolv.conf is a link to it under systemd-resolved; the directory's sockets stay out"},
	{"/run/wrappers", "NixOS: PATH begins with it; its set-id programs gain nothing under no_new_privs"},
}

// Devices lists the devices of a private /dev. The Plan itself makes /dev/ptmx, /dev/pts, /dev/fd,
// stdin, stdout and stderr, which are no nodes of the host.
func Devices() []Row { return devices[:] }

var devices = [...]Row{
	{"/dev/full", "writes answer ENOSPC; test suites use it"},
	{"/dev/null", "programs end without it"},
	{"/dev/random", "randomness for those that do not use getrandom(2)"},
	{"/dev/tty", "the caller's terminal, for prompts; seccomp denies TIOCSTI"},
	{"/dev/urandom", "the same"},
	{"/dev/zero", "zeroes; mapped by old allocators"},
}

// ProcReadOnly lists what under /proc becomes read-only. For a write these files check for uid 0
// and not for a capability, so a root in a sandbox could change the host through them: proc(5),
// sysctl(8).
func ProcReadOnly() []Row { return procReadOnly[:] }

var procReadOnly = [...]Row{
	{"acpi", "wakeup sources of the machine"},
	{"asound", "mixers and buffers of sound cards"},
	{"bus", "bus/pci writes to the configuration space of devices"},
	{"driver", "drivers' own controls (rtc, nvram, snd-page-alloc)"},
	{"dynamic_debug", "dynamic_debug/control turns on what the kernel writes to the log"},
	{"fs", "switches of file systems of the whole host (nfsd, xfs, ext4, jbd2)"},
	{"irq", "affinity of interrupts"},
	{"mtrr", "memory types of physical memory"},
	{"scsi", "scsi/scsi adds and removes disks"},
	{"spl", "switches of ZFS, for the whole host"},
	{"sys", "kernel.core_pattern, kernel.modprobe and others name programs that the kernel runs as root outside every namespace"},
	{"sysrq-trigger", "reboots, ends all processes, writes memory to the log"},
	{"tty/driver", "serial lines and what goes over them"},
}

// ProcMasked lists what under /proc is covered by an empty file. Read-only would not do, because
// reading these files is the harm.
//
// Decided against: kmsg (to read it takes CAP_SYSLOG in the host's own user namespace, see
// dmesg_restrict, and tools stat it), kallsyms (addresses read as zero without CAP_SYSLOG),
// config.gz and version (public facts).
func ProcMasked() []Row { return procMasked[:] }

var procMasked = [...]Row{
	{"kcore", "the machine's memory"},
	{"key-users", "who has keys in the kernel's keyrings"},
	{"keys", "the keys of the kernel's keyrings that the caller may see"},
	{"kpagecgroup", "which control group a page of physical memory belongs to"},
	{"kpagecount", "how often a page of physical memory is mapped"},
	{"kpageflags", "what a page of physical memory is used for"},
	{"latency_stats", "what other processes wait for"},
	{"sched_debug", "every process of the host by name, whatever the pid namespace (before Linux 5.13)"},
	{"timer_list", "timers of the whole host with addresses and process names"},
	{"timer_stats", "timers by process name, whatever the pid namespace (before Linux 4.11)"},
}

// Loaders lists the usual places of dynamic loaders. A directory of commands.allow may hold
// programs that need them, but the command must not start a loader itself as a program.
func Loaders() []Row { return loaders[:] }

var loaders = [...]Row{
	{"/lib/ld-linux-aarch64.so.1", "glibc on arm64"},
	{"/lib/ld-musl-aarch64.so.1", "musl on arm64"},
	{"/lib/ld-musl-x86_64.so.1", "musl on amd64"},
	{"/lib64/ld-linux-x86-64.so.2", "glibc on amd64"},
}

// ProbedPaths lists further paths of which Probe finds the kind: the places that a Plan makes
// private or mounts over.
func ProbedPaths() []string { return probedPaths[:] }

var probedPaths = [...]string{
	"/dev/shm", "/run", "/tmp", "/var/run", "/var/tmp",
}

// PrivateDirs lists the directories that are the sandbox's own, and empty, if files are private.
func PrivateDirs() []Row { return privateDirs[:] }

var privateDirs = [...]Row{
	{"/dev/shm", "shared memory of other programs by name"},
	{"/run", "sockets of the host's services and of the session"},
	{"/tmp", "other programs' temporary files and sockets (X11, ssh-agent, tmux)"},
	{"/var/tmp", "the same"},
}
