package defaults

import (
	"sbx/internal/view"
)

// openable are the devices of the host that a spec may open by naming them as writable, and what
// each gives away. All others stay closed: through a disk a command reads and writes every file,
// through a terminal it types commands for the caller, and /dev/mem and its like control the
// machine.
var openable = [...]Row{
	{"/dev/dri/card*", "the graphics card's display controls, and the kernel's graphics driver"},
	{"/dev/dri/renderD*", "the graphics card, its memory and the kernel's graphics driver"},
	{"/dev/fuse", "the kernel's FUSE protocol; a file system can be mounted by it only where mount is open"},
	{"/dev/kvm", "virtual machines: the kernel's hypervisor is in reach, and memory that they take counts as the command's"},
	{"/dev/nvidia*", "the graphics card, its memory and NVIDIA's kernel driver"},
}

// DeviceGives returns what a device that may be opened gives away; "" for any other path.
func DeviceGives(path string) string {
	for i := range openable {
		if row := &openable[i]; view.Parent(path) == view.Parent(row.Path) && Matches(path, row.Path) {
			return row.Why
		}
	}
	return ""
}
