package landlock

// abi is one version of the kernel's Landlock, and what it brought.
type abi struct {
	version int
	kernel  string // the first Linux with it
	fs      FSSet
	net     NetSet
	scope   ScopeSet
	attr    uintptr // the size of struct landlock_ruleset_attr as far as Ruleset fills it
}

// abis is the one table of what each ABI knows, oldest first. The versions
// that bring nothing to a Ruleset are there too: 7 and 8 are about audit logs
// and threads. What is newer than the last line is used as the last line.
var abis = [...]abi{
	{1, "5.13", Execute | WriteFile | ReadFile | ReadDir | RemoveDir | RemoveFile | MakeChar |
		MakeDir | MakeReg | MakeSock | MakeFifo | MakeBlock | MakeSym, 0, 0, 8},
	{2, "5.19", Refer, 0, 0, 8},
	{3, "6.2", Truncate, 0, 0, 8},
	{4, "6.7", 0, BindTCP | ConnectTCP, 0, 16},
	{5, "6.10", IoctlDev, 0, 0, 16},
	{6, "6.12", 0, 0, AbstractUnix | Signal, 24},
	{7, "6.15", 0, 0, 0, 24},
	{8, "7.0", 0, 0, 0, 24},
	{9, "7.1", ResolveUnix, 0, 0, 24},
	{10, "7.2", 0, BindUDP | ConnectSendUDP, 0, 24},
}

// Newest is the last ABI of the table.
const Newest = 10

// Rights are all that a kernel with that ABI can restrict; nothing for an abi
// below 1.
func Rights(version int) (FSSet, NetSet, ScopeSet) {
	var fs FSSet
	var net NetSet
	var scope ScopeSet
	for _, a := range abis {
		if a.version <= version {
			fs, net, scope = fs|a.fs, net|a.net, scope|a.scope
		}
	}
	return fs, net, scope
}

// Kernel is the first Linux with that ABI, as "6.12"; "" for an ABI that the
// table does not have.
func Kernel(version int) string {
	for _, a := range abis {
		if a.version == version {
			return a.kernel
		}
	}
	return ""
}

// AttrSize is the size argument of landlock_create_ruleset(2) for a kernel
// with that ABI. An older kernel takes a longer one only where the rest is
// zero (E2BIG otherwise), so that a downgraded Ruleset would pass anyway; the
// exact size leaves nothing to that. It is 0 for an abi below 1.
func AttrSize(version int) uintptr {
	size := uintptr(0)
	for _, a := range abis {
		if a.version <= version {
			size = a.attr
		}
	}
	return size
}
