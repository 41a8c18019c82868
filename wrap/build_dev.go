package wrap

import (
	"slices"
	"strconv"
	"strings"
)

// TerminalPath is a second name inside of the caller's terminal, as in a container.
const TerminalPath = "/dev/console"

// ownDev reports whether path lies in the sandbox's own /dev. The host's /dev is not shown, because
// a disk, a terminal or /dev/kvm would be a way past every rule. Shared memory stays the host's if
// the spec keeps no files private.
func (b *places) ownDev(path string) bool {
	return under(path, "/dev") && !(b.hostShm() && under(path, hostShm))
}

const hostShm = "/dev/shm"

// hostShm reports whether the host's shared memory is bound into the own /dev.
func (b *draft) hostShm() bool { return !b.restricted() && b.h.Kind(hostShm) == Dir }

// deviceLinks are the links in /dev that programs expect.
var deviceLinks = [...][2]string{
	{"/dev/fd", "/proc/self/fd"}, {"/dev/stdin", "/proc/self/fd/0"}, {"/dev/stdout", "/proc/self/fd/1"},
	{"/dev/stderr", "/proc/self/fd/2"}, {"/dev/ptmx", "pts/ptmx"},
}

// devices returns the devices of the private /dev, with the caller's terminal under both of its
// names.
func (b *draft) devices() []Found {
	t := b.h.Terminal
	if t == "" {
		return b.h.Devices
	}
	list := append(slices.Clone(b.h.Devices), Found{Path: TerminalPath, Real: t, Kind: Device, Why: "the caller's terminal"})
	if dir := parent(t); t != TerminalPath && (dir == "/dev" || dir == ptsDir) {
		list = append(list, Found{Path: t, Real: t, Kind: Device, Why: "the same, by its own name"})
	}
	return list
}

const ptsDir = "/dev/pts"

// dev fills the private /dev: the harmless devices, a devpts of its own, shm.
func (b *layers) dev() {
	for _, d := range b.host.devices {
		if parent(d.path) != ptsDir {
			b.mkdir(parent(d.path), 0o755)
			b.add(item{how: itemMade, path: d.path, perm: 0o666})
			b.add(d)
		}
	}
	for _, l := range deviceLinks {
		b.add(item{how: itemLinked, path: l[0], source: l[1]})
	}
	b.add(item{how: itemMade, path: hostShm, kind: Dir, perm: 0o1777})
	for _, i := range b.host.memory {
		b.add(i)
	}
	b.add(item{how: itemMade, path: ptsDir, kind: Dir, perm: 0o755})
	// The only way to make a name in a devpts is to open a terminal, and terminals are numbered. So
	// the terminals with numbers below the caller's are opened, too, and closed again.
	n := 0
	if number, is := strings.CutPrefix(b.h.Terminal, ptsDir+"/"); is {
		if k, err := strconv.Atoi(number); err == nil && k >= 0 && k < b.mayHold()-b.held {
			n = k + 1
		}
	}
	b.add(item{how: itemDevpts, path: ptsDir, slot: n})
	if n > 0 {
		slot := 0
		for _, d := range b.host.devices {
			if d.path == b.h.Terminal {
				slot = d.slot
			}
		}
		b.add(item{path: b.h.Terminal, source: b.h.Terminal, kind: Device, mode: ModeDevice, slot: slot, field: FieldPrivate, soft: true})
	}
}
