package outer

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/view"
	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap"
)

// ociTool is a runtime of the Open Container Initiative, which reads a bundle: the directory
// rootfs and a config.json (runtime-spec, config.md). No Wrapper has it, since a bundle is more
// than a command line.
var ociTool = tool{name: nameOCI, root: true, args: func(*wrapper) {}, cannot: ociCannot,
	without: []Lack{
		{wrap.FieldProtected, noWatch},
	}}

func ociCannot(w *wrapper, f spec.Field) string {
	switch {
	case f == "limits.timeout":
		return "a runtime has no such limit"
	case slices.Contains(wrap.GroupLimits(), f) && w.a.Host.UID != 0:
		return "a runtime makes no control groups for an ordinary user"
	case f == "commands.allow":
		return "a runtime has no rule about which files are executed"
	case f == "syscalls":
		return "the bundle has sbx's own list of system calls"
	}
	return unwatched(w, f)
}

// Bundle is what a runtime is given.
type Bundle struct {
	Config []byte // config.json
	// Root lists the directories, empty files and links that rootfs has before anything is
	// mounted. Runtimes make mount points, but not links.
	Root  []wrap.Node
	Audit Audit
}

// OCI makes the bundle that runs an invocation. It is pure, as a Wrapper is. The
// error is spec.Problems.
func OCI(a Ask, inv Invocation) (*Bundle, error) {
	w := bundler{&wrapper{tool: &ociTool, a: a}}
	if err := w.finish(); err != nil {
		return nil, err
	}
	if err := w.check(&inv); err != nil {
		return nil, err
	}
	env := a.Host.Environ(a.Resolved.Environ(inv.Env))
	b := &Bundle{Config: w.config(&inv, env)}
	for _, n := range w.nodes {
		if (n.Kind == wrap.NodeLink || n.Kind == wrap.NodeDir) && w.inRoot(n.Path) {
			b.Root = append(b.Root, n)
		}
	}
	line := Invocation{Cmd: inv.Cmd, Args: inv.Args}
	b.Audit = w.audit(&inv, &line, inv.Args)
	return b, nil
}

// bundler makes the config.json of a runtime.
type bundler struct{ *wrapper }

// inRoot reports whether a path lies in rootfs itself, outside of every mount.
func (w *bundler) inRoot(path string) bool {
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.Path != path && view.Within(path, n.Path) && n.Kind != wrap.NodeDir && n.Kind != wrap.NodeLink && n.Kind != wrap.NodeReadOnly {
			return false
		}
	}
	return true
}

// config writes config.json.
func (w *bundler) config(inv *Invocation, env []string) []byte {
	p := &doc.Writer{Lines: math.MaxInt}
	p.Open('{')
	p.KeyText("ociVersion", "1.0.2")
	p.KeyOpen("process", '{')
	p.KeyRaw("user", `{"uid": `+strconv.Itoa(w.insideID(w.a.Host.UID))+`, "gid": `+strconv.Itoa(w.insideID(w.a.Host.GID))+`}`)
	p.KeyRaw("args", bracketed(append([]string{inv.Cmd}, inv.Args...)))
	p.KeyRaw("env", bracketed(env))
	p.KeyText("cwd", w.dir(inv.Cwd))
	p.KeyRaw("capabilities", w.ociCaps())
	p.KeyRaw("rlimits", w.ociLimits())
	p.KeyFlag("noNewPrivileges", true)
	p.Close('}')
	p.KeyRaw("root", `{"path": "rootfs", "readonly": true}`)
	p.KeyRaw("mounts", w.ociMounts())
	p.KeyOpen("linux", '{')
	p.KeyRaw("namespaces", w.ociNamespaces())
	p.KeyRaw("uidMappings", w.ociIDs(w.a.Host.UID, w.a.Host.UIDs))
	p.KeyRaw("gidMappings", w.ociIDs(w.a.Host.GID, w.a.Host.GIDs))
	if r := w.ociResources(); r != "" {
		p.KeyRaw("resources", r)
	}
	p.KeyRaw("maskedPaths", bracketed(w.ociMasked()))
	p.KeyRaw("readonlyPaths", bracketed(w.ociReadOnly()))
	if w.plan.Filter.On {
		p.KeyRaw("seccomp", string(seccomp.AppendOCI(nil, w.plan.Filter.Options, seccomp.Native)))
	}
	p.Close('}')
	p.Close('}')
	return append(p.B, '\n')
}

// insideID returns a user or group id as the container has it: an ordinary user's single id is 0
// inside, since runtimes need that id.
func (w *bundler) insideID(id int) int {
	if w.a.Host.UID == 0 {
		return id
	}
	return 0
}

func (w *bundler) ociIDs(id int, ranges []wrap.IDRange) string {
	if w.a.Host.UID != 0 {
		return `[{"containerID": 0, "hostID": ` + strconv.Itoa(id) + `, "size": 1}]`
	}
	s := "["
	for i, r := range ranges {
		if i > 0 {
			s += ", "
		}
		first := strconv.FormatUint(uint64(r.First), 10)
		s += `{"containerID": ` + first + `, "hostID": ` + first + `, "size": ` + strconv.FormatUint(uint64(r.Count), 10) + `}`
	}
	return s + "]"
}

func (w *bundler) ociNamespaces() string {
	names := []string{"user", "mount", "pid", "ipc", "uts", "cgroup"}
	if w.a.Resolved.Network != spec.NetworkHost {
		names = append(names, "network")
	}
	for i, n := range names {
		names[i] = `{"type": "` + n + `"}`
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func (w *bundler) ociCaps() string {
	var names []string
	for _, c := range w.plan.Caps {
		names = append(names, c.String())
	}
	list := bracketed(names)
	return `{"bounding": ` + list + `, "effective": ` + list + `, "permitted": ` + list + `}`
}

func (w *bundler) ociLimits() string {
	l := &w.a.Resolved.Spec.Limits.Value
	var all []string
	add := func(kind string, n int64) {
		v := strconv.FormatInt(n, 10)
		all = append(all, `{"type": "`+kind+`", "hard": `+v+`, "soft": `+v+`}`)
	}
	if l.OpenFiles.Set {
		add("RLIMIT_NOFILE", int64(l.OpenFiles.Value))
	}
	if l.FileSize.Set {
		add("RLIMIT_FSIZE", int64(l.FileSize.Value))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// ociResources returns the limits of the container's control groups. The limit of memory and swap
// together equals that of memory.
func (w *bundler) ociResources() string {
	if w.a.Host.UID != 0 {
		return ""
	}
	l := &w.a.Resolved.Spec.Limits.Value
	var all []string
	if l.Memory.Set {
		n := strconv.FormatInt(int64(l.Memory.Value), 10)
		all = append(all, `"memory": {"limit": `+n+`, "swap": `+n+`}`)
	}
	if l.CPUs.Set {
		us, of := wrap.Quota(l.CPUs.Value)
		all = append(all, `"cpu": {"quota": `+strconv.FormatInt(us, 10)+`, "period": `+strconv.FormatInt(of, 10)+`}`)
	}
	if l.PIDs.Set {
		all = append(all, `"pids": {"limit": `+strconv.Itoa(l.PIDs.Value)+`}`)
	}
	if len(all) == 0 {
		return ""
	}
	return "{" + strings.Join(all, ", ") + "}"
}
