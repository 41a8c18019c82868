package life

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sbx/dispatch"
	"sbx/internal/read"
	"sbx/internal/sys"
	"sbx/internal/view"
	"sbx/spec"
)

// surroundings collects what the execution depends on.
func (k *keeper) surroundings() (surroundings, error) {
	at := surroundings{dir: k.f, root: os.Getuid() == 0, real: k.programFile}
	project, err := k.Project(k.j)
	if err != nil {
		return at, err
	}
	if k.j.Prompt != "" && k.j.Argv == nil {
		text, _, err := k.readPrompt(k.j, k.j.Prompt)
		if err != nil {
			return at, err
		}
		at.prompt = string(text)
	}
	_, s, err := k.j.document()
	if err != nil {
		return at, err
	}
	// The resolved path, since the ledger may be named through a link.
	ledger := real(k.j.Ledger.Path)
	trees, mounts := k.trees(s, project)
	if guards(s) && !view.Within(ledger, real(k.StateDir)) && (view.Within(ledger, project) || slices.ContainsFunc(trees, func(t shown) bool { return view.Within(ledger, t.source) })) {
		at.ledger, err = k.keepFrom(s, ledger, project, trees)
		at.ledger.mounts = mounts
	}
	return at, err
}

// shown is a directory that a command may write, and the path at which it sees that.
type shown struct{ source, at string }

// trees returns the directories that a spec allows to be written, and its mounts. Of a spec
// with a profile it returns only the mounts; an invalid spec allows nothing.
func (k *keeper) trees(s *spec.SandboxSpec, project string) (trees []shown, mounts []spec.MountAt) {
	home := spec.HomeDir(k.Environ, func() string { return "" }, spec.HostPaths{})
	r, err := spec.Resolve(s, spec.Inputs{Home: home, Cwd: project, Environ: k.Environ, UID: os.Getuid(), Paths: spec.HostPaths{}})
	if err != nil {
		return nil, nil
	}
	if s.Profile.Set {
		return nil, r.Mounts
	}
	if !r.Confined {
		trees = append(trees, shown{"/", "/"})
	}
	for i := range r.Write {
		trees = append(trees, shown{r.Write[i].Real, r.Write[i].Real})
	}
	for i := range r.Mounts {
		if m := &r.Mounts[i]; m.Mode == spec.MountRW {
			trees = append(trees, shown{m.Source.Real, m.Target})
		}
	}
	return trees, r.Mounts
}

// real resolves the symbolic links of a path; if that fails it returns path unchanged.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

// keepFrom returns how the ledger must be kept from a command. It opens the ledger first,
// because files must exist to be hidden.
func (k *keeper) keepFrom(s *spec.SandboxSpec, path, project string, trees []shown) (keptLedger, error) {
	var ledger keptLedger
	if err := k.inLedger.open(k.j.Ledger); err != nil {
		return ledger, err
	}
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ledger, problem(path, "keep the ledger from the command", dispatch.WithoutPath(err), "make its directory readable")
	}
	for _, e := range entries {
		if ofLedger(e.Name(), filepath.Base(path)) {
			ledger.files = append(ledger.files, filepath.Join(dir, e.Name()))
		}
	}
	ledger.dir = dir
	if closable(s, project, dir, trees) {
		ledger.at = []string{dir}
	}
	for _, t := range trees {
		rel, _ := view.Relative(dir, t.source)
		if at := filepath.Join(t.at, rel); t.at != t.source && rel != "" && !slices.Contains(ledger.at, at) {
			ledger.at = append(ledger.at, at)
		}
	}
	return ledger, nil
}

// ofLedger reports whether a file has data of the ledger: it is the database, its log, or a
// backup that sbx or Intercore made before a change.
func ofLedger(name, ledger string) bool {
	rest, ok := strings.CutPrefix(name, ledger)
	return ok && (rest == "" || rest == "-wal" || rest == "-shm" || strings.HasPrefix(rest, ".sbx-backup-") || strings.HasPrefix(rest, ".backup-"))
}

// programFile returns the file of a program's name or path, "" for none.
func (k *keeper) programFile(name string) string {
	path := name
	if filepath.Base(name) == name {
		path = ""
		for _, dir := range filepath.SplitList(sys.Variable(k.Environ, "PATH")) {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				path = filepath.Join(dir, name)
				break
			}
		}
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(k.j.Project, path)
	}
	if path == "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return real
}

// open opens the ledger unless it is open already.
func (r *inLedger) open(ledger dispatch.Place) error {
	if r.ledger != nil {
		return nil
	}
	l, err := dispatch.Open(ledger, dispatch.Alter)
	if err != nil {
		return err
	}
	r.ledger, r.own = l, l.Own()
	return nil
}

// watch waits for sbx exec, passes signals on and updates the counts meanwhile. It returns
// the exit status; absent if a signal killed sbx exec.
func (k *keeper) watch(signals chan os.Signal) spec.Opt[int64] {
	// If this fails, open is tried again later.
	_ = k.inLedger.open(k.j.Ledger)
	if k.j.Driver || k.ledger != nil && !k.own {
		name := cmp.Or(k.j.Name, k.j.Agent)
		k.live = newLive(k.Live, os.Getpid(), name, k.j.Project, k.started)
		k.live.write()
	}
	tick := time.NewTicker(tellEvery / 2)
	defer tick.Stop()
	var force <-chan time.Time
	forced := false
	for {
		select {
		case err := <-k.done:
			return exitStatus(k.cmd, err)
		case c := <-k.used:
			k.last.Commands, k.last.Turns = c.Commands, c.Turns
			k.tell()
		case <-tick.C:
			k.tell()
		case <-signals:
			_ = k.cmd.Process.Signal(syscall.SIGTERM)
			if k.stopped = true; force == nil {
				force = time.After(stopAfter)
			}
		case <-force:
			if forced || !endChildren(k.cmd.Process.Pid) {
				_ = k.cmd.Process.Kill()
			}
			forced, force = true, time.After(lastFor)
		}
	}
}

// endChildren kills the children of sbx exec: the first process of the sandbox, and thereby
// all others in it. sbx exec itself can then write its record. endChildren reports whether
// it killed any process.
func endChildren(parent int) bool {
	found := false
	for _, pid := range read.Children(strconv.Itoa(parent)) {
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		// The pidfd refers to the child only if the PID is still a child's afterwards.
		if slices.Contains(read.Children(strconv.Itoa(parent)), pid) {
			found = p.Kill() == nil || found
		}
		_ = p.Release()
	}
	return found
}

func exitStatus(cmd *exec.Cmd, err error) spec.Opt[int64] {
	if cmd.ProcessState == nil || err != nil && cmd.ProcessState.ExitCode() < 0 {
		return spec.Opt[int64]{}
	}
	return spec.Some(int64(cmd.ProcessState.ExitCode()))
}

// tell updates the live file and the row if the counts have changed.
func (k *keeper) tell() {
	activity := "running"
	if k.stream != nil {
		var messages int64
		messages, activity, _ = k.stream.now()
		k.last.Messages = spec.Some(messages)
	}
	if k.live != nil {
		k.live.Activity, k.live.Turns, k.live.Commands, k.live.Messages = activity, k.last.Turns.Value, k.last.Commands.Value, k.last.Messages.Value
		k.live.write()
	}
	if k.last == k.told || time.Since(k.toldAt) < tellEvery || k.inLedger.open(k.j.Ledger) != nil {
		return
	}
	k.toldAt = time.Now()
	if k.ledger.Progress(k.j.ID, k.last) == nil {
		k.told = k.last
	}
}
