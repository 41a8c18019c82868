package wrap

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sbx/internal/doc"
	"sbx/spec"
)

// world is a made-up file system and what a launch would learn of the machine
// around it. It answers spec.Resolve as the kernel would, and makes the Host
// that Probe would have made: what a Plan may count on is what Probe looks at.
type world struct {
	t     testing.TB
	nodes map[string]node
	large map[string]bool // directories that Probe leaves unlisted
	host  Host
	in    spec.Inputs
	req   Request
	repos []Repository

	around []string

	others []string // homes of others

	scripts map[string][]string // programs that are scripts, with their interpreters
	linked  []string            // programs with another name
}

type node struct {
	kind   Kind
	target string // of a link
}

// newWorld reads lines of "kind path" and of facts; later lines win.
func newWorld(t testing.TB, texts ...string) *world {
	t.Helper()
	w := &world{t: t, nodes: map[string]node{"/": {kind: Dir}}, large: map[string]bool{}}
	w.host = Host{Kernel: Version{6, 18}, Release: "6.18.0", Arch: "amd64", UID: 1000, GID: 1000, LandlockABI: 8,
		Seccomp: Answer{State: Yes}}
	w.host.Rungs[RungRoot] = Answer{No, "the caller is not root"}
	w.host.Rungs[RungBare].State = Yes
	w.in = spec.Inputs{Home: "/home/u", Cwd: "/home/u/w", Paths: w,
		Environ: []string{"PATH=/usr/bin", "HOME=/home/u", "LANG=C", "API_TOKEN=x", "SSH_AUTH_SOCK=/tmp/agent"}}
	w.req = Request{Counter: CounterAuto, Argv: []string{"make", "test"}, Program: Program{Path: "/usr/bin/make", Real: "/usr/bin/make", Folder: "/usr/bin"},
		Record: "/home/u/.local/state/sbx/runs/1/effective.json"}
	for _, text := range texts {
		for _, line := range strings.Split(text, "\n") {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				w.line(line)
			}
		}
	}
	return w
}

var kinds = map[string]Kind{"dir": Dir, "file": File, "socket": Socket, "link": Symlink, "device": Device}

func (w *world) line(line string) {
	word, rest, _ := strings.Cut(line, " ")
	first, more, _ := strings.Cut(rest, " ")
	if k, ok := kinds[word]; ok {
		w.add(first, node{k, more})
		return
	}
	number := func() int {
		n, err := strconv.Atoi(first)
		if err != nil {
			w.t.Fatalf("%q: %v", line, err)
		}
		return n
	}
	h := &w.host
	switch word {
	case "large":
		w.large[first] = true
	case "without":
		for p := range w.nodes {
			if under(p, first) {
				delete(w.nodes, p)
			}
		}
	case "root":
		h.UID, h.GID, h.SysAdmin = 0, 0, true
		h.UIDs, h.GIDs = []IDRange{{0, 1<<32 - 1}}, []IDRange{{0, 1<<32 - 1}}
		h.Rungs[RungRoot] = Answer{}
		w.in.Home = "/root"
	case "audit":
		h.AuditReader = true
	case "landlock":
		if h.LandlockABI = number(); h.LandlockABI == 0 {
			h.LandlockWhy = "the kernel has no Landlock"
		}
	case "seccomp":
		h.Seccomp = w.answer(first, more)
	case "tracer":
		h.Tracer = w.answer(first, more)
	case "listener":
		h.Listener = w.answer(first, more)
	case "copies":
		h.Copies = w.answer(first, more)
	case "container":
		h.Container = engines[slices.IndexFunc(engines[:], func(e Engine) bool { return e.Name == first })]
	case "overlay":
		h.Overlay = w.answer(first, more)
	case "setattr":
		h.SetAttr = w.answer(first, more)
	case "rung":
		state, why, _ := strings.Cut(more, " ")
		for r := range h.Rungs {
			if strings.ReplaceAll(Rung(r).String(), " ", "-") == first {
				h.Rungs[r] = w.answer(state, why)
				return
			}
		}
		w.t.Fatalf("%q: no such rung", line)
	case "home":
		w.in.Home = first
	case "cwd":
		w.in.Cwd = first
	case "job":
		w.in.Job = &spec.JobAsk{Input: first, Output: more}
	case "record":
		w.req.Record = first
	case "program":
		w.req.Program = Program{Path: first, Real: first, Folder: path.Dir(first), Interpreters: strings.Fields(more)}
		w.req.Argv = []string{path.Base(first)}
	case "mounted":
		w.host.Mounts = append(w.host.Mounts, MountPoint{Path: first, Type: more})
	case "removable":
		w.host.Removable = append(w.host.Removable, first)
	case "group": // group CONTROLLER VERSION DIR [enable] [leaf] [threaded] [swap], or group CONTROLLER no WHY
		w.group(first, more)
	case "parent": // what an outer sandbox holds, as its file says it
		n, err := doc.ParseJSON("parent", []byte(rest))
		if err != nil {
			w.t.Fatal(err)
		}
		var ok bool
		if h.Parent, ok = ParseParent(n); !ok {
			w.t.Fatalf("%q: not understood", line)
		}
	case "kernel":
		h.Kernel = Version{number(), 0}
	case "own": // own read|write|locked PATH: what the command's agent needs of its own
		if w.in.Agent == nil {
			w.in.Agent = &spec.AgentNeeds{Agent: spec.Codex}
		}
		if strings.Contains(more, "/.claude") {
			w.in.Agent.Agent = spec.Claude
		}
		if mode := map[string]spec.OwnMode{"read": spec.OwnRead, "write": spec.OwnWrite, "locked": spec.OwnLocked}[first]; mode != 0 {
			w.in.Agent.Files = append(w.in.Agent.Files, spec.OwnFile{Path: more, Mode: mode})
		}
	case "copied": // copied DIR WHY: a directory over which a copy may lie, where writes are learned
		w.in.Learn = true
		w.host.Layers = append(w.host.Layers, Layer{Dir: first, Mode: 0o755, Why: more})
	case "layer":
		h.Layer = w.answer(first, more)
	case "drop":
		w.host.DropEnv = append(w.host.DropEnv, first)
	case "worktree": // worktree TOP GITDIR COMMON OTHER
		f := strings.Fields(rest)
		w.repos = append(w.repos, Repository{Top: f[0], GitDir: f[1], Common: f[2], Others: f[3:], Outside: true})
	case "other": // other PATH: another user's home, with a secret
		w.add(first+"/.netrc", node{kind: File})
		w.others = append(w.others, first)
	case "around": // around TOP: a repository that a writable tree lies in
		w.around = append(w.around, first)
	case "admin": // admin ADMIN DOT…
		f := strings.Fields(rest)
		w.host.Worktrees = append(w.host.Worktrees, Worktree{Admin: f[0], Dots: f[1:]})
	default:
		if !w.programLine(word, first, more) {
			w.t.Fatalf("%q is no fact of a host", line)
		}
	}
}

// group notes where a group can be made for a controller.
func (w *world) group(name, rest string) {
	for c := range Controller(Controllers) {
		if c.String() != name {
			continue
		}
		g := &w.host.Groups[c]
		if why, none := strings.CutPrefix(rest, "no "); none {
			g.Answer = Answer{No, why}
			return
		}
		f := strings.Fields(rest)
		version, err := strconv.Atoi(f[0])
		if err != nil {
			w.t.Fatal(err)
		}
		*g = GroupHost{Answer: Answer{State: Yes}, Version: version, Dir: f[1], Enable: slices.Contains(f, "enable"),
			Leaf: slices.Contains(f, "leaf"), Threaded: slices.Contains(f, "threaded"), Swap: slices.Contains(f, "swap"), Sockets: !slices.Contains(f, "nosocket")}
		return
	}
	w.t.Fatalf("there is no controller %q", name)
}

func (w *world) answer(state, why string) Answer {
	for _, s := range []State{Unknown, Yes, No} {
		if s.String() == state {
			return Answer{s, why}
		}
	}
	w.t.Fatalf("%q is no answer", state)
	return Answer{}
}

func (w *world) add(p string, n node) {
	for dir := path.Dir(p); w.nodes[dir].kind == Absent; dir = path.Dir(dir) {
		w.nodes[dir] = node{kind: Dir}
	}
	w.nodes[p] = n
}

func (w *world) Lstat(p string) (spec.Info, error) {
	n, ok := w.nodes[p]
	if !ok {
		return spec.Info{}, spec.NoEntry
	}
	return spec.Info{IsDir: n.kind == Dir, IsLink: n.kind == Symlink}, nil
}

func (w *world) Readlink(p string) (string, error) { return w.nodes[p].target, nil }

// resolve reads a spec and fills it in. The error may be of either.
func (w *world) resolve(doc string) (*spec.Resolved, error) {
	w.t.Helper()
	s, err := spec.Decode("spec.json", []byte(doc))
	if err != nil {
		return nil, err
	}
	s.Source.Dir = w.in.Cwd
	w.in.UID = w.host.UID
	r, err := spec.Resolve(s, w.in)
	return &r, err
}

// probed is the Host as Probe leaves it for r.
func (w *world) probed(r *spec.Resolved) *Host {
	h := w.host
	r = WithOwn(r)
	h.Home, h.Users = r.Home, []int{h.UID}
	if r.Network != spec.NetworkHost {
		for _, p := range w.sorted() {
			if w.nodes[p].kind == Socket && w.inView(r, p) && !named(r, p, p) {
				h.Sockets = append(h.Sockets, Found{Path: p, Real: p, Kind: Socket})
			}
		}
	}
	if !r.FileRules && !r.SideDoors {
		h.Removable, h.Mounts = nil, nil
		return &h
	}
	w.programs(&h, r)
	h.Paths = map[string]Kind{}
	for _, p := range ProbedPaths() {
		w.look(&h, p)
	}
	w.look(&h, r.Home)
	for i := range h.Mounts {
		if m := &h.Mounts[i]; m.Kernels() {
			w.look(&h, m.Path)
		}
	}
	w.targets(&h, r)
	w.homeLayer(&h, r)
	h.Keep, h.Devices = w.rows(RunKept()), w.rows(Devices())
	if h.UID == 0 {
		h.ProcRO, h.ProcMask = w.names(ProcReadOnly()), w.names(ProcMasked())
	}
	if r.System {
		h.System = w.rows(System())
	}
	if r.Private {
		w.secrets(&h, r)
		for _, s := range h.Secrets {
			if s.Kind != Dir || s.Target != "" {
				w.list(&h, parent(s.Path))
			}
		}
		h.Repositories, h.Around = w.repos, w.around
		w.protected(&h, r)
		w.locked(&h, r)
	}
	return &h
}

func (w *world) sorted() []string {
	all := make([]string, 0, len(w.nodes))
	for p := range w.nodes {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}

func (w *world) look(h *Host, p string) {
	if n, ok := w.nodes[p]; ok {
		h.Paths[p] = n.kind
	}
}

// targets looks at where mounts go, and lists directories as Probe does.
func (w *world) targets(h *Host, r *spec.Resolved) {
	w.look(h, "/sys")
	for i := range r.Mounts {
		p := r.Mounts[i].Target
		w.look(h, p)
		for p != "/" && h.Paths[p] == Absent {
			p = parent(p)
			w.look(h, p)
		}
		if h.Paths[r.Mounts[i].Target] == Absent {
			w.list(h, p)
		}
		for _, m := range r.Mounts {
			if t := r.Mounts[i].Target; t != m.Target && under(t, m.Target) {
				w.look(h, m.Source.Real+t[len(m.Target):])
			}
		}
		w.look(h, r.Root.Real+r.Mounts[i].Target)
	}
	if slices.ContainsFunc(r.Read, func(p spec.Path) bool { return p.Real == "/" }) {
		w.list(h, "/")
	}
	if r.Root.Real != "" {
		w.listAll(h, r.Root.Real)
	}
	for i := range r.Hide {
		if host, mapped := r.Outside(r.Hide[i].Abs); mapped {
			w.look(h, host)
		}
		if p := &r.Hide[i]; p.Exists && !p.IsDir {
			w.list(h, parent(p.Real))
		}
	}
}

func (w *world) list(h *Host, dir string) {
	if !w.large[dir] || h.Overlay.State == No {
		w.listAll(h, dir)
	}
}

func (w *world) listAll(h *Host, dir string) {
	if h.listing(dir) != nil || w.nodes[dir].kind != Dir {
		return
	}
	l := Listing{Dir: dir, Mode: 0o755}
	for _, p := range w.sorted() {
		if p != "/" && parent(p) == dir {
			l.Entries = append(l.Entries, Entry{Name: path.Base(p), Kind: w.nodes[p].kind, Target: w.nodes[p].target})
		}
	}
	h.Listing = append(h.Listing, l)
}

// find is what stands at p, links followed; ok is false for nothing.
func (w *world) find(p, why string) (Found, bool) {
	dir, err := spec.Real(parent(p), w)
	if err != nil {
		return Found{}, false
	}
	at := strings.TrimSuffix(dir, "/") + "/" + path.Base(p)
	n, ok := w.nodes[at]
	f := Found{Path: p, Real: at, Kind: n.kind, Why: why}
	if n.kind == Symlink {
		f.Target = n.target
		if f.Real, err = spec.Real(p, w); err != nil {
			return Found{}, false
		}
		f.Kind = w.nodes[f.Real].kind
	}
	return f, ok
}

func (w *world) rows(table []Row) (found []Found) {
	for _, row := range table {
		if f, ok := w.find(row.Path, row.Why); ok {
			found = append(found, f)
		}
	}
	return found
}

func (w *world) names(table []Row) (names []string) {
	for _, row := range table {
		if w.nodes["/proc/"+row.Path].kind != Absent {
			names = append(names, row.Path)
		}
	}
	return names
}

func named(r *spec.Resolved, p, real string) bool {
	for _, l := range [][]spec.Path{r.Read, r.Write} {
		for _, n := range l {
			if n.Field != "" && (n.Abs == p || n.Real == p || n.Abs == real || n.Real == real) {
				return true
			}
		}
	}
	return false
}

// inView tells whether p is seen inside as far as private directories go.
func (w *world) inView(r *spec.Resolved, p string) bool {
	private := false
	for _, row := range PrivateFolders() {
		private = private || under(p, row.Path)
	}
	if !r.Private || !private {
		return true
	}
	for _, l := range [][]spec.Path{r.Read, r.Write, {r.WorkingDir}} {
		for _, n := range l {
			if under(p, n.Real) {
				return true
			}
		}
	}
	for _, m := range r.Mounts {
		if m.Source.Real != "" && under(p, m.Source.Real) {
			return true
		}
	}
	return false
}

func (w *world) secrets(h *Host, r *spec.Resolved) {
	homes := []string{r.Home}
	if h.UID == 0 {
		homes = []string{"/root", "/home/u"}
		homes = append(homes, w.otherHomes(h, r)...)
	}
	for _, s := range Secrets() {
		at := []string{s.Path}
		if rest, ok := strings.CutPrefix(s.Path, "~/"); ok {
			at = at[:0]
			for _, home := range homes {
				at = append(at, home+"/"+rest)
			}
		}
		for _, p := range at {
			f, ok := w.find(p, s.Why)
			if !ok || s.Root && h.UID != 0 || s.Folder && (f.Target != "" || f.Kind != Dir) || named(r, p, f.Real) || !w.inView(r, p) {
				continue
			}
			f.Path = f.Real
			h.Secrets = append(h.Secrets, f)
		}
	}
	slices.SortStableFunc(h.Secrets, func(a, b Found) int { return strings.Compare(a.Path, b.Path) })
}

// otherHomes hides the homes of others whole, but for those that it gives.
func (w *world) otherHomes(h *Host, r *spec.Resolved) (needed []string) {
next:
	for _, home := range w.others {
		for _, l := range [][]spec.Path{r.Read, r.Write, {r.WorkingDir}} {
			for _, p := range l {
				if p.Real != "/" && (under(p.Real, home) || under(home, p.Real)) {
					needed = append(needed, home)
					continue next
				}
			}
		}
		h.Secrets = append(h.Secrets, Found{Path: home, Real: home, Kind: Dir, Why: OtherHome, Home: true})
	}
	if len(h.Secrets) > FewHomes {
		w.listAll(h, "/home")
	}
	return needed
}

// protected finds the protected names by their tables alone.
func (w *world) protected(h *Host, r *spec.Resolved) {
	var trees []string
	if r.WorkingDir.Real != "" && !r.ReadOnly {
		for _, p := range r.Write {
			if p.Exists && p.IsDir && !slices.ContainsFunc(trees, func(t string) bool { return under(p.Real, t) }) {
				trees = append(trees, p.Real)
			}
		}
	}
	for _, repo := range w.repos {
		trees = append(trees, repo.Common)
	}
	inner := func(p string) bool {
		return slices.ContainsFunc(r.Write, func(o spec.Path) bool {
			return o.Field == FieldAgent && under(p, o.Real) && !slices.Contains(trees, o.Real)
		})
	}
	shared := map[string]bool{}
	for _, p := range w.sorted() {
		for _, tree := range trees {
			if p == tree || !under(p, tree) || inner(p) {
				continue
			}
			rel := p[len(tree)+1:]
			if path.Base(tree) == ".git" {
				rel = ".git/" + rel
			}
			row, ok := IsProtectedName(rel)
			if !ok || rel == ".git" && w.nodes[p].kind == Dir || strings.HasSuffix(rel, "/.git") && w.nodes[p].kind == Dir ||
				slices.ContainsFunc(h.Protected, func(o Protected) bool { return under(p, o.Path) }) {
				continue
			}
			h.Protected = append(h.Protected, Protected{Path: p, Kind: w.nodes[p].kind, Why: row.Why, Link: w.nodes[p].kind == Symlink})
			for dir := parent(p); dir != tree && under(dir, tree); dir = parent(dir) {
				shared[dir] = true
			}
		}
	}
	for dir := range shared {
		h.Protected = append(h.Protected, Protected{Path: dir, Kind: Dir, Shared: true, Why: "on the way"})
	}
	slices.SortFunc(h.Protected, func(a, b Protected) int { return strings.Compare(a.Path, b.Path) })
	h.Protected = slices.CompactFunc(h.Protected, func(a, b Protected) bool { return a.Path == b.Path })
}

// build goes the whole way from a document to a Plan.
func (w *world) build(doc string) (*spec.Resolved, *Plan, error) {
	w.t.Helper()
	r, err := w.resolve(doc)
	if err != nil {
		return r, nil, err
	}
	plan, err := Build(r, w.probed(r), w.req)
	return r, plan, err
}
