package outer

import (
	"slices"
	"strconv"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
)

// bwrapTool is bubblewrap, bwrap(1). 0.8.0 is the first that has --size and
// --disable-userns.
var bwrapTool = tool{name: "bwrap", needs: "0.8.0", below: 2, args: bwrapArgs, cannot: unsupervised,
	without: []Lack{
		{wrap.FieldProtected, noWatch},
	}}

// bwrapLine is the command line of bwrap.
type bwrapLine struct{ *wrapper }

func bwrapArgs(of *wrapper) {
	w := bwrapLine{of}
	if w.plan.Base == wrap.BaseHost { // the spec restricts no files
		w.add("--dev-bind", "/", "/")
		w.bwrapCommand()
		return
	}
	if w.a.Host.UID == 0 {
		w.note(Lack{wrap.FieldSideDoors, "bwrap's user namespace has a single id, with which root could not work on what others own: root has none, and four capabilities"})
	} else {
		w.add("--unshare-user", "--disable-userns")
	}
	if w.a.FilterFD == 0 && w.plan.Filter.On {
		w.note(Lack{wrap.FieldSideDoors, bwrapUnfiltered(w.a.Host.UID == 0)})
	}
	w.add("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
	if w.a.Resolved.Network != spec.NetworkHost {
		w.add("--unshare-net")
	}
	w.add("--die-with-parent", "--new-session", "--cap-drop", "ALL")
	for _, c := range w.plan.Caps {
		w.add("--cap-add", c.String())
	}
	for i := range w.nodes {
		w.bwrapNode(&w.nodes[i])
		if w.mountedLater(i) {
			w.add("--ro-bind", "/dev/null", w.nodes[i].Path) // its directory may be read-only by then
		}
	}
	if slices.ContainsFunc(w.nodes, func(n wrap.Node) bool { return n.Path == "/dev" && n.Kind == wrap.NodeTmpfs }) {
		w.add("--remount-ro", "/dev") // which has no size otherwise
	}
	w.bwrapCommand()
}

// bwrapUnfiltered describes the calls that stay open where bwrap gets no filter, which it reads
// from a descriptor.
func bwrapUnfiltered(root bool) string {
	const why = "bwrap takes no seccomp filter on a command line: "
	if root {
		return why + "no system call is denied, those for namespaces included"
	}
	return why + "of the system calls only those for namespaces are denied"
}

func (w bwrapLine) bwrapCommand() {
	if w.a.StatusFD > 0 {
		w.add("--json-status-fd", strconv.Itoa(w.a.StatusFD))
	}
	if w.a.FilterFD > 0 && w.plan.Filter.On {
		w.add("--seccomp", strconv.Itoa(w.a.FilterFD))
	}
	w.slot(SlotHeeded, "--setenv")
	w.slot(SlotCwd, "--chdir")
	w.add("--")
	w.slot(SlotCmd, "")
	w.slot(SlotArgs, "")
}

func (w bwrapLine) bwrapNode(n *wrap.Node) {
	switch {
	case n.Path == "/dev" && n.Kind == wrap.NodeTmpfs:
		w.add("--dev", "/dev", "--perms", "01777", "--tmpfs", "/dev/shm")
		return
	case bwrapDev(n):
		return // --dev has made it
	case n.Path != "/proc" && view.Within(n.Path, "/proc"):
		w.bwrapProc(n)
		return
	}
	try := ""
	if n.Soft {
		try = "-try"
	}
	switch n.Kind {
	case wrap.NodeBind:
		flag := "--bind"
		switch {
		case n.Mode == wrap.ModeRO:
			flag = "--ro-bind"
		case n.Mode == wrap.ModeDevice, n.Path == "/":
			flag = "--dev-bind"
		}
		w.add(flag+try, n.Source, n.Path)
	case wrap.NodeTmpfs:
		if n.Perm != 0 {
			w.add("--perms", perms(n.Perm))
		}
		if n.Size > 0 {
			w.add("--size", strconv.FormatInt(n.Size, 10))
		}
		w.add("--tmpfs", n.Path)
	case wrap.NodeDir:
		if n.Perm != 0 {
			w.add("--perms", perms(n.Perm))
		}
		w.add("--dir", n.Path)
	case wrap.NodeLink:
		w.add("--symlink", n.Text, n.Path)
	case wrap.NodeEmptyDir:
		w.add("--perms", "0555", "--tmpfs", n.Path, "--remount-ro", n.Path)
	case wrap.NodeEmptyFile:
		w.add("--dev-bind", "/dev/null", n.Path)
	case wrap.NodeReadOnly:
		w.add("--remount-ro", n.Path)
	case wrap.NodeProc:
		w.add("--proc", n.Path)
	case wrap.NodeFile, wrap.NodeDevpts: // a place to mount on, which bwrap makes; its --dev has the other
	}
}

// mountedLater reports whether a node after the next one is mounted on node i, a file.
func (w bwrapLine) mountedLater(i int) bool {
	n := &w.nodes[i]
	return n.Kind == wrap.NodeFile && !bwrapDev(n) && slices.IndexFunc(w.nodes[i+1:], func(o wrap.Node) bool { return o.Kind == wrap.NodeBind && o.Path == n.Path }) > 0
}

// bwrapDev reports whether --dev makes the node n. It makes nothing that the spec itself puts into
// /dev.
func bwrapDev(n *wrap.Node) bool {
	return view.Within(n.Path, "/dev") && (n.For == wrap.FieldPrivate || n.Kind == wrap.NodeLink || n.Kind == wrap.NodeDevpts || n.Kind == wrap.NodeFile || n.Kind == wrap.NodeDir)
}

// bwrapProc covers what a new /proc leaves open to uid 0. bwrap's own cover passes
// over sys, whose directory says that nobody may write it while its files let uid 0.
// Bound from the host's /proc they show the same: none of them is a process's.
func (w bwrapLine) bwrapProc(n *wrap.Node) {
	if n.Path == "/proc/1" || w.a.Host.Kind(n.Path) == wrap.Absent {
		return // bwrap's own
	}
	if n.Kind == wrap.NodeEmptyFile {
		w.add("--dev-bind", "/dev/null", n.Path)
		return
	}
	w.add("--ro-bind", n.Path, n.Path)
}

func perms(p uint32) string { return "0" + strconv.FormatUint(uint64(p), 8) }
