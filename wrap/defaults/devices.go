package defaults

import (
	"sbx/internal/view"
)

// openable are the devices of the host that a spec opens by writing them by name, and what
// each gives away. Every other one stays out: a disk is all files, a terminal is a way
// to type at the caller, /dev/mem and its like are the machine.
var openable = [...]Row{
	{"/dev/dri/card*", "the graphics card's display controls, and the kernel's graphics driver"},
	{"/dev/dri/renderD*", "the graphics card, its memory and the kernel's graphics driver"},
	{"/dev/fuse", "the kernel's FUSE protocol; a file system can be mounted by it only where mount is open"},
	{"/dev/kvm", "virtual machines: the kernel's hypervisor is in reach, and memory that they take counts as the command's"},
	{"/dev/nvidia*", "the graphics card, its memory and NVIDIA's kernel driver"},
}

// DeviceGives is what a device gives away that may be opened; "" for any other path.
func DeviceGives(path string) string {
	for i := range openable {
		if row := &openable[i]; view.Parent(path) == view.Parent(row.Path) && Matches(path, row.Path) {
			return row.Why
		}
	}
	return ""
}
