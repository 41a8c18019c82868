package outer

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/view"
	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap"
)

// nsjailTool is nsjail (its --help and README are its reference). It makes a
// user namespace of the caller's own ids, sets no_new_privs and drops every
// capability by itself.
var nsjailTool = tool{name: "nsjail", needs: "3.0", below: 1, root: true, args: nsjailArgs, cannot: nsjailCannot,
	without: []Lack{
		{wrap.FieldProtected, noWatch},
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
	case f.In("limits"):
		return "nsjail's groups are made where the host lets it, which it does not look for"
	}
	return unsupervised(w, f)
}

const mebibyte = 1 << 20

// nsjailPolicy is the flag of nsjail's seccomp policy; nsjailShut stands for the policy in an
// audit, since it has thousands of bytes and no secret.
const (
	nsjailPolicy = "--seccomp_string"
	nsjailShut   = "<system calls>"
)

// nsjailLine is the command line of nsjail.
type nsjailLine struct {
	*wrapper
	shut []string // directories that are hidden whole for what is in them
}

func nsjailArgs(of *wrapper) {
	w := nsjailLine{wrapper: of}
	r := w.a.Resolved
	// One command, no log but what goes wrong, and in the caller's own session.
	w.add("--mode", "o", "--really_quiet", "--forward_signals", "--nice_level", "0")
	if w.plan.Base == wrap.BaseHost { // the spec restricts no files
		for _, ns := range []string{"net", "user", "ns", "pid", "ipc", "uts", "cgroup"} {
			w.add("--disable_clone_new" + ns)
		}
		w.add("--keep_caps", "--disable_proc", "--chroot", "/", "--rw")
		w.nsjailLimits()
		w.nsjailCommand()
		return
	}
	if r.Network == spec.NetworkHost {
		w.add("--disable_clone_newnet")
	}
	for _, m := range []struct {
		flag string
		id   int
		all  []wrap.IDRange
	}{{"--user", w.a.Host.UID, w.a.Host.UIDs}, {"--group", w.a.Host.GID, w.a.Host.GIDs}} {
		id := strconv.Itoa(m.id)
		if w.a.Host.UID == 0 && len(m.all) == 1 && m.all[0].First == 0 { // all ids, as sbx maps them
			id = "0:0:" + strconv.FormatUint(uint64(m.all[0].Count), 10)
		}
		w.add(m.flag, id)
	}
	for _, c := range w.plan.Caps {
		w.add("--cap", c.String())
	}
	if w.plan.Filter.On {
		w.add(nsjailPolicy, string(seccomp.AppendKafel(nil, w.plan.Filter.Options, seccomp.Native)))
		if w.a.Host.UID == 0 {
			w.note(Lack{wrap.FieldSideDoors, "root can open device nodes outside of /dev"})
		}
	}
	w.nsjailLimits()
	w.nsjailSockets()
	for i := range w.nodes {
		w.nsjailNode(&w.nodes[i])
	}
	for _, dir := range w.shut {
		w.add("--mount", "none:"+dir+":tmpfs:size=4096,mode=0555,ro")
	}
	w.nsjailCommand()
}

func (w *nsjailLine) nsjailCommand() {
	w.slot(SlotEnv, "--env")
	w.slot(SlotCwd, "--cwd")
	w.add("--")
	w.slot(SlotCmd, "")
	w.slot(SlotArgs, "")
}

// nsjailLimits passes on the limits of a process: the caller's where the spec has none, since
// nsjail would lower them.
func (w *nsjailLine) nsjailLimits() {
	l := &w.a.Resolved.Spec.Limits.Value
	limit := func(name, value string) { w.add("--rlimit_"+name, value) }
	size, files, timeout := "soft", "soft", int64(0)
	if w.a.Supervised { // sbx enforces the limits, and nsjail passes them on
		l = &spec.Limits{}
	}
	if l.FileSize.Set && l.FileSize.Value%mebibyte == 0 {
		size = strconv.FormatInt(int64(l.FileSize.Value)/mebibyte, 10)
	}
	if l.OpenFiles.Set {
		files = strconv.Itoa(l.OpenFiles.Value)
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

// nsjailNode adds one mount. The /proc that nsjail itself mounts is read-only as a whole.
func (w *nsjailLine) nsjailNode(n *wrap.Node) {
	if view.Within(n.Path, "/proc") || w.isShut(n.Path) {
		return
	}
	if strings.Contains(n.Path+n.Source+n.Text, ":") {
		w.lack(w.fieldOf(n), `nsjail cannot mount a path with ":", as `+n.Path)
		return
	}
	if n.Kind == wrap.NodeDir && n.Path == "/dev/shm" { // in a tmpfs whose directories cannot be told
		n = &wrap.Node{Kind: wrap.NodeTmpfs, Path: n.Path, Perm: n.Perm}
	}
	switch n.Kind {
	case wrap.NodeBind:
		if n.Mode == wrap.ModeRO {
			w.nsjailReadOnly(n)
		} else {
			w.add("--bindmount", n.Source+":"+n.Path)
		}
	case wrap.NodeTmpfs:
		o := "mode=" + perms(max(n.Perm, 0o700))
		if n.Size > 0 {
			o += ",size=" + strconv.FormatInt(n.Size, 10)
		}
		if n.Closed {
			w.note(Lack{wrap.FieldSecrets, "a directory in which something is hidden by its name can be written; what is written there ends with the sandbox"})
		}
		w.add("--mount", "none:"+n.Path+":tmpfs:"+o)
	case wrap.NodeEmptyDir:
		w.add("--mount", "none:"+n.Path+":tmpfs:size=4096,mode=0555,ro")
	case wrap.NodeEmptyFile:
		if !w.isSocket(n.Path) {
			w.add("--bindmount_ro", "/dev/null:"+n.Path)
		}
	case wrap.NodeLink:
		w.add("--symlink", n.Text+":"+n.Path)
	case wrap.NodeDevpts:
		w.add("--mount", "none:"+n.Path+":devpts:newinstance,ptmxmode=0666,mode=0620")
	case wrap.NodeProc, wrap.NodeDir, wrap.NodeFile, wrap.NodeReadOnly: // what nsjail makes, and places to mount on
	}
}

// nsjailReadOnly binds a tree: --bindmount_ro makes its top alone read-only, and
// each mount under must be told.
func (w *nsjailLine) nsjailReadOnly(n *wrap.Node) {
	w.add("--bindmount_ro", n.Source+":"+n.Path)
	for _, m := range w.a.Host.Mounts {
		rel, _ := view.Relative(m.Path, n.Source)
		if rel == "" {
			continue
		}
		switch at := view.Join(n.Path, rel); {
		case view.Within(at, "/proc") || view.Within(at, "/dev"):
		case strings.Contains(m.Path+at, ":"): // it would stay writable
			w.lack(w.fieldOf(n), `nsjail cannot mount a path with ":", as `+m.Path)
		default:
			w.add("--bindmount_ro", m.Path+":"+at)
		}
	}
}

// isSocket reports whether a socket of the host is hidden at path.
func (w *nsjailLine) isSocket(path string) bool {
	is := func(f wrap.Found) bool { return f.Kind == wrap.Socket && (f.Real == path || f.Path == path) }
	return slices.ContainsFunc(w.a.Host.Sockets, is) || slices.ContainsFunc(w.a.Host.Secrets, is)
}

// nsjailSockets finds the directories that are hidden for a socket in them: nsjail can
// lay nothing over one. A directory that the command works in, or the spec binds,
// cannot be hidden. Of one in another the outer is enough, and nothing else is
// mounted in it: nsjail looks at each mount again in the end, and wants to find it.
func (w *nsjailLine) nsjailSockets() {
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.Kind != wrap.NodeEmptyFile || !w.isSocket(n.Path) || strings.Contains(n.Path, ":") {
			continue
		}
		dir := view.Parent(n.Path)
		rw, _ := w.view(dir)
		if rw || view.Within(w.plan.Command.Dir, dir) || slices.ContainsFunc(w.nodes, func(o wrap.Node) bool { return o.Kind == wrap.NodeBind && o.Path != dir && view.Within(o.Path, dir) }) {
			w.lack(w.fieldOf(n), "nsjail can lay nothing over a socket, as "+n.Path)
			continue
		}
		w.note(Lack{"filesystem", "nsjail can lay nothing over a socket: the directories of some are hidden whole"})
		if !w.isShut(dir) {
			w.shut = append(slices.DeleteFunc(w.shut, func(in string) bool { return view.Within(in, dir) }), dir)
		}
	}
}

// isShut reports whether a path lies in a directory that is hidden for a socket.
func (w *nsjailLine) isShut(path string) bool {
	return slices.ContainsFunc(w.shut, func(dir string) bool { return view.Within(path, dir) })
}
