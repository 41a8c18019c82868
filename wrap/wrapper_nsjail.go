package wrap

import (
	"strconv"
	"strings"

	"sbx/spec"
)

// nsjailTool is nsjail (its --help and README are its reference). It makes a
// user namespace of the caller's own ids, sets no_new_privs and drops every
// capability by itself.
var nsjailTool = tool{name: "nsjail", needs: "3.0", args: nsjailArgs, cannot: nsjailCannot,
	without: []Lack{
		{FieldSideDoors, "no seccomp policy is told to nsjail: of the system calls only those that want capabilities are shut"},
		{FieldProtected, noWatch},
		{"max_commands", noCount},
	}}

func nsjailCannot(w *wrapper, f spec.Field) string {
	l := &w.a.Resolved.Spec.Limits.Value
	switch {
	case w.a.Supervised:
		return unsupervised(w, f)
	case f == "limits.timeout", f == "limits.open_files":
		return ""
	case f == "limits.file_size" && l.FileSize.Value%mebibyte == 0 && l.FileSize.Value > 0:
		return ""
	case f == "limits.file_size":
		return "nsjail counts the size of a file in whole MiB"
	case within(f, "limits"):
		return "nsjail's groups are made where the host lets it, which it does not look for"
	}
	return unsupervised(w, f)
}

const mebibyte = 1 << 20

func nsjailArgs(w *wrapper) {
	r := w.a.Resolved
	// One command, no log but what goes wrong, and in the caller's own session.
	w.add("--mode", "o", "--quiet", "--forward_signals")
	if w.plan.Base == BaseHost { // nothing is constrained
		for _, ns := range []string{"net", "user", "ns", "pid", "ipc", "uts", "cgroup"} {
			w.add("--disable_clone_new" + ns)
		}
		w.add("--keep_caps", "--disable_proc")
		w.nsjailLimits()
		w.nsjailCommand()
		return
	}
	if r.Network == spec.NetworkHost {
		w.add("--disable_clone_newnet")
	}
	w.add("--user", itoa(w.a.Host.UID), "--group", itoa(w.a.Host.GID))
	for _, c := range w.plan.Caps {
		w.add("--cap", c.String())
	}
	w.nsjailLimits()
	w.add("--disable_proc")
	for i := range w.nodes {
		w.nsjailNode(&w.nodes[i])
	}
	w.nsjailCommand()
}

func (w *wrapper) nsjailCommand() {
	w.slot(SlotEnv, "--env")
	w.slot(SlotCwd, "--cwd")
	w.add("--")
	w.slot(SlotCmd, "")
	w.slot(SlotArgs, "")
}

// nsjailLimits are the limits of a process, which nsjail lowers by itself where
// it is told nothing: the caller's own stay.
func (w *wrapper) nsjailLimits() {
	l := &w.a.Resolved.Spec.Limits.Value
	limit := func(name, value string) { w.add("--rlimit_"+name, value) }
	size, files, timeout := "soft", "soft", int64(0)
	if w.a.Supervised { // the limits are sbx's to hold, and nsjail's to pass on
		l = &spec.Limits{}
	}
	if l.FileSize.Set && l.FileSize.Value%mebibyte == 0 {
		size = strconv.FormatInt(int64(l.FileSize.Value)/mebibyte, 10)
	}
	if l.OpenFiles.Set {
		files = itoa(l.OpenFiles.Value)
	}
	if l.Timeout.Set { // in whole seconds, never later
		timeout = max(int64(l.Timeout.Value.Seconds()), 1)
	}
	w.add("--time_limit", strconv.FormatInt(timeout, 10))
	for _, name := range []string{"as", "core", "cpu"} {
		limit(name, "soft")
	}
	limit("fsize", size)
	limit("nofile", files)
	for _, name := range []string{"nproc", "stack"} {
		limit(name, "soft")
	}
}

func (w *wrapper) nsjailNode(n *Node) {
	if under(n.Path, "/proc") && n.Path != "/proc" {
		return // the /proc that nsjail mounts is read-only, whole
	}
	if strings.Contains(n.Path+n.Source+n.Text, ":") {
		w.lack(w.fieldOf(n), `nsjail cannot be told of a path with ":", as `+n.Path)
		return
	}
	switch n.Kind {
	case NodeBind:
		flag := "--bindmount"
		if n.Mode == ModeRO {
			flag = "--bindmount_ro"
		}
		if n.Path == "/" {
			w.add("--chroot", "/")
			if n.Mode != ModeRO {
				w.add("--rw")
			}
			return
		}
		w.add(flag, n.Source+":"+n.Path)
	case NodeTmpfs:
		o := "mode=" + perms(max(n.Perm, 0o700))
		if n.Size > 0 {
			o += ",size=" + strconv.FormatInt(n.Size, 10)
		}
		w.add("--mount", "none:"+n.Path+":tmpfs:"+o)
	case NodeEmptyDir:
		w.add("--mount", "none:"+n.Path+":tmpfs:mode=0555,size=4096")
	case NodeEmptyFile:
		w.add("--bindmount_ro", "/dev/null:"+n.Path)
	case NodeLink:
		w.add("--symlink", n.Text+":"+n.Path)
	case NodeProc:
		w.add("--mount", "none:/proc:proc:ro")
	case NodeDevpts:
		w.add("--mount", "none:"+n.Path+":devpts:newinstance,ptmxmode=0666,mode=0620")
	case NodeDir, NodeFile, NodeReadOnly: // places to mount on, which nsjail makes
	}
}
