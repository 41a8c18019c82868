package landlock

// abi is a version of the kernel's Landlock, and what it added.
type abi struct {
	version int
	kernel  string // the first Linux with it
	fs      FSSet
	net     NetSet
	scope   ScopeSet
	attr    uintptr // the size of struct landlock_ruleset_attr as far as Ruleset fills it
}

// abis is the table of what each ABI supports, oldest first. Versions that add nothing to a Ruleset
// are in it, too: 7 and 8 are about audit logs and threads. A newer ABI than the last row is used
// like the last row.
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

// Rights returns everything that a kernel with that ABI can restrict; nothing for an ABI below 1.
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

// Kernel returns the first Linux version with that ABI, as in "6.12"; "" for an ABI that the table
// does not have.
func Kernel(version int) string {
	for _, a := range abis {
		if a.version == version {
			return a.kernel
		}
	}
	return ""
}

// AttrSize returns the size argument of landlock_create_ruleset(2) for a kernel with that ABI. An
// older kernel accepts a greater size only if the rest is zero (E2BIG otherwise), which is so for a
// downgraded Ruleset; the exact size does not depend on that. It is 0 for an ABI below 1.
func AttrSize(version int) uintptr {
	size := uintptr(0)
	for _, a := range abis {
		if a.version <= version {
			size = a.attr
		}
	}
	return size
}
