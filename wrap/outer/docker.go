package outer

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/broker/wire"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
)

// The tools that run a container of an image by one command line: docker-run(1) and
// podman-run(1). runsc is gVisor as a runtime of Docker's engine.
var (
	dockerTool = tool{name: nameDocker, needs: "20.10", image: true, args: dockerArgs, cannot: imageCannot, without: imageWithout}
	podmanTool = tool{name: namePodman, needs: "4.3", image: true, args: dockerArgs, cannot: imageCannot, without: imageWithout}
	runscTool  = tool{name: nameRunsc, needs: "20221219", image: true, args: dockerArgs, cannot: imageCannot, without: imageWithout}
)

var imageWithout = []Lack{
	{"filesystem", "the files in view are the image's, and of the host's what the spec names"},
	{wrap.FieldSideDoors, "the system calls that are denied are those of the engine's own default list"},
	{wrap.FieldProtected, noWatch},
}

// imageCannot returns why an engine's container cannot enforce a field.
func imageCannot(w *wrapper, f spec.Field) string {
	r := w.a.Resolved
	switch {
	case f == "limits.timeout" && !w.a.Supervised:
		return w.name + " has no such limit"
	case w.found() != nil && slices.Contains(w.found().Drops, f):
		return w.name + " has no control groups for it on this host, and only says so"
	case f == "limits.pids" && w.name == nameRunsc:
		return "the engine counts gVisor's own threads as well"
	case f.In("commands"):
		return "the programs are the image's, not those that the names lead to on the host"
	case f == "syscalls" && len(r.MoreSyscalls) > 0:
		return w.name + " takes one list of system calls"
	case f == "filesystem.read":
		for _, p := range r.Read {
			if p.Real == "/" {
				return "the image has a root of its own"
			}
		}
	}
	return unwatched(w, f)
}

// imageLine is the command line of an engine.
type imageLine struct{ *wrapper }

// dockerArgs returns the arguments of `docker run`. They override the image's entry point, user and
// working directory.
func dockerArgs(of *wrapper) {
	w := imageLine{of}
	if t := w.found(); t != nil {
		w.add(t.Options...)
	}
	w.add("run", "--rm", "--interactive", "--pull", "never", "--log-driver", "none")
	w.init()
	switch w.name {
	case nameRunsc:
		w.add("--runtime", "runsc")
	case namePodman:
		w.add("--read-only-tmpfs=false", "--http-proxy=false")
		if w.a.Host.UID != 0 { // else the caller's id inside is a subordinate one outside
			w.add("--userns", "keep-id")
		}
	}
	if w.a.Container != "" {
		w.add("--name", w.a.Container)
	}
	if w.a.Terminal {
		w.add("--tty")
	}
	network := "none"
	if w.a.Resolved.Network == spec.NetworkHost {
		network = "host"
	}
	w.add("--network", network, "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
	if s := w.a.Resolved.Syscalls; s != "" && s != "default" {
		w.add("--security-opt", "seccomp="+s)
	}
	w.add("--ipc", "private", "--cgroupns", "private", "--user", strconv.Itoa(w.a.Host.UID)+":"+strconv.Itoa(w.a.Host.GID))
	w.imageLimits()
	for _, n := range w.flat() {
		w.imageNode(&n)
	}
	w.broker()
	w.slot(SlotEnv, "--env")
	w.slot(SlotCwd, "--workdir")
	w.slot(SlotCmd, "--entrypoint")
	w.add(w.a.Image)
	w.slot(SlotArgs, "")
}

// broker binds in the files by which a command reaches its broker: sbx cannot make a socket in a
// container's network.
func (w *imageLine) broker() {
	if b := &w.a.Broker; b.Socket != "" {
		w.add("--mount", w.bindOption(b.Socket, wire.SocketFile, false),
			"--mount", w.bindOption(b.TokenFile, wire.TokenFile, true), "--mount", w.bindOption(b.Program, wrap.ConnectPath, true))
		if b.Plan != "" {
			w.add("--mount", w.bindOption(b.PlanFile, wrap.PlanPath, true))
		}
	}
}

// init requests a first process of the engine's own, because the kernel ignores signals to a pid 1
// that has no handler for them. podman needs the path of that program.
func (w *imageLine) init() {
	t := w.found()
	switch {
	case w.name != namePodman:
		w.add("--init")
	case t != nil && t.Init != "":
		w.add("--init", "--init-path", t.Init)
	}
}

// imageLimits adds the limits of a container. Its memory limit includes swap.
func (w *imageLine) imageLimits() {
	l := &w.a.Resolved.Spec.Limits.Value
	if l.Memory.Set {
		n := strconv.FormatInt(int64(l.Memory.Value), 10)
		w.add("--memory", n, "--memory-swap", n)
	}
	if l.CPUs.Set {
		w.add("--cpus", strconv.FormatFloat(l.CPUs.Value, 'f', -1, 64))
	}
	if l.PIDs.Set {
		w.add("--pids-limit", strconv.Itoa(l.PIDs.Value))
	}
	if l.OpenFiles.Set {
		n := strconv.Itoa(l.OpenFiles.Value)
		w.add("--ulimit", "nofile="+n+":"+n)
	}
	if w.name == namePodman { // its defaults may be more than the caller may have
		if f := w.a.Host.Files; !l.OpenFiles.Set && f.Hard > 0 {
			w.add("--ulimit", "nofile="+f.String())
		}
		if p := w.a.Host.Procs; p.Hard > 0 {
			w.add("--ulimit", "nproc="+wrap.Rlimit{Soft: min(p.Soft, podmanProcs), Hard: min(p.Hard, podmanProcs)}.String())
		}
	}
	if l.FileSize.Set {
		n := strconv.FormatInt(int64(l.FileSize.Value), 10)
		w.add("--ulimit", "fsize="+n+":"+n)
	}
}

// podmanProcs is the most processes that podman lets a container's user have: it
// lowers its own limit to the kernel's usual pid_max.
const podmanProcs = 32768

// flat returns the tree in the form that an engine takes: it mounts targets by their depth, each
// once, whatever their order. Nodes that a later one covers are left out.
func (w *imageLine) flat() []wrap.Node {
	var flat []wrap.Node
	for _, n := range w.nodes {
		if n.Path == "/" || view.Within(n.Path, "/dev") || view.Within(n.Path, "/proc") || view.Within(n.Path, "/sys") {
			continue // a container's own
		}
		switch n.Kind {
		case wrap.NodeDir, wrap.NodeFile, wrap.NodeProc, wrap.NodeDevpts, wrap.NodeReadOnly:
			continue // a place to mount on, which the engine makes; what the mount itself says
		case wrap.NodeLink:
			linked, ok := w.linked(&n)
			if !ok {
				continue
			}
			n = linked
		}
		kept := flat[:0]
		for _, f := range flat {
			if !view.Within(f.Path, n.Path) {
				kept = append(kept, f)
			}
		}
		flat = append(kept, n)
	}
	return flat
}

// linked binds, where a link would stand, what it leads to: an engine makes no
// links.
func (w *imageLine) linked(n *wrap.Node) (wrap.Node, bool) {
	target := n.Text
	if !strings.HasPrefix(target, "/") {
		target = view.Join(view.Parent(n.Path), target)
	}
	if strings.Contains(target+"/", "/../") {
		w.lack(w.fieldOf(n), w.name+" makes no link at "+n.Path)
		return wrap.Node{}, false
	}
	g := w.plan.View.At(target)
	to := wrap.Node{Kind: wrap.NodeBind, Path: n.Path, Source: g.Source, For: n.For}
	if g.Access == view.Read {
		to.Mode = wrap.ModeRO
	}
	return to, g.Access >= view.Read && g.Source != ""
}

// imageNode adds one mount of a container.
func (w *imageLine) imageNode(n *wrap.Node) {
	tmpfs := func(options string) {
		if strings.ContainsAny(n.Path, ":,") {
			w.lack(w.fieldOf(n), w.name+" cannot mount a tmpfs at "+n.Path+`, whose name has ":" or ","`)
			return
		}
		w.add("--tmpfs", n.Path+":"+options)
	}
	switch n.Kind {
	case wrap.NodeBind:
		w.add("--mount", w.bindOption(n.Source, n.Path, n.Mode == wrap.ModeRO || n.Closed))
	case wrap.NodeEmptyFile:
		w.add("--mount", w.bindOption("/dev/null", n.Path, true))
	case wrap.NodeEmptyDir:
		tmpfs("ro,nosuid,nodev,mode=0555,size=4k" + w.noCopy())
	case wrap.NodeTmpfs:
		o := "rw"
		if n.Closed {
			o = "ro"
		}
		perm := max(n.Perm, 0o700)
		owner := ""
		if w.a.Host.UID != 0 && perm&0o002 == 0 { // it belongs to root, whatever user the command runs as
			owner = ",uid=" + strconv.Itoa(w.a.Host.UID) + ",gid=" + strconv.Itoa(w.a.Host.GID)
			if w.name == namePodman { // which does not know these
				perm, owner = 0o1777, ""
			}
		}
		o += ",exec,nosuid,nodev,mode=" + perms(perm) + owner
		if n.Size > 0 {
			o += ",size=" + strconv.FormatInt(n.Size, 10)
		}
		tmpfs(o + w.noCopy())
	}
}

// noCopy keeps podman from copying into a tmpfs the files under it, which are to be hidden.
func (w *wrapper) noCopy() string {
	if w.name == namePodman {
		return ",notmpcopyup"
	}
	return ""
}

// fieldOf returns the field that a node serves.
func (w *wrapper) fieldOf(n *wrap.Node) spec.Field {
	if n.For == "" {
		return "filesystem"
	}
	return n.For
}

// bindOption returns the value of --mount: comma-separated values as encoding/csv reads them.
// Mounts of the host under the source only come along if they may be written anyway, since a
// read-only bind makes only its own mount read-only (Docker before 25).
func (w *imageLine) bindOption(source, target string, readOnly bool) string {
	o := "type=bind," + field("source="+source) + "," + field("destination="+target)
	if !readOnly {
		return o
	}
	o += ",readonly"
	if w.mountsBeneath(source) {
		o += ",bind-nonrecursive"
	}
	return o
}

// mountsBeneath reports whether the host has mounts under a directory.
func (w *wrapper) mountsBeneath(dir string) bool {
	return slices.ContainsFunc(w.a.Host.Mounts, func(m wrap.MountPoint) bool { return m.Path != dir && view.Within(m.Path, dir) })
}

// field returns one of several comma-separated values (RFC 4180).
func field(s string) string {
	if !strings.ContainsAny(s, ",\"\r\n") && s[0] != ' ' {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
