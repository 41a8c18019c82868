package life

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sbx/dispatch"
	"sbx/internal/sys"
	"sbx/spec"
)

// read learns of the host what the execution needs.
func (k *keeper) read() (place, error) {
	at := place{folder: k.f, root: os.Getuid() == 0, real: k.programFile}
	project, err := k.Project(k.j)
	if err != nil {
		return at, err
	}
	if k.j.Prompt != "" && k.j.Argv == nil {
		f, err := k.openPrompt(k.j, k.j.Prompt)
		if err != nil {
			return at, err
		}
		defer func() { _ = f.Close() }()
		b, err := io.ReadAll(io.LimitReader(f, maxPrompt))
		if err != nil {
			return at, problem(k.j.Prompt, "read the prompt", plain(err), "")
		}
		at.prompt = string(b)
	}
	_, s, err := k.j.document()
	if err != nil {
		return at, err
	}
	// By whichever names: a ledger may be named through a link.
	ledger := real(k.j.Ledger.Path)
	trees, mounts := k.trees(s, project)
	if guards(s) && !beneath(ledger, real(k.StateDir)) && (beneath(ledger, project) || slices.ContainsFunc(trees, func(t shown) bool { return beneath(ledger, t.source) })) {
		at.ledger, err = k.keepFrom(s, ledger, project, trees)
		at.ledger.mounts = mounts
	}
	return at, err
}

// shown is a directory that a command writes, and where it sees that.
type shown struct{ source, at string }

// trees are the directories that a spec lets be written, and what it mounts. Of a
// profile nothing is known here but the project, and a spec that is refused writes
// nothing.
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

// real is where a path leads; the path itself where that cannot be told.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

// keepFrom says what of the ledger is to be kept from a command. Its files must
// be there when they are hidden, so it is opened first.
func (k *keeper) keepFrom(s *spec.SandboxSpec, path, project string, trees []shown) (kept, error) {
	var ledger kept
	if err := k.inLedger.open(k.j.Ledger); err != nil {
		return ledger, err
	}
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ledger, problem(path, "keep the ledger from the command", plain(err), "make its directory readable")
	}
	for _, e := range entries {
		if ofLedger(e.Name(), filepath.Base(path)) {
			ledger.files = append(ledger.files, filepath.Join(dir, e.Name()))
		}
	}
	ledger.folder = dir
	if closable(s, project, dir, trees) {
		ledger.at = []string{dir}
	}
	for _, t := range trees {
		if at := filepath.Join(t.at, strings.TrimPrefix(dir, t.source)); t.at != t.source && beneath(dir, t.source) && !slices.Contains(ledger.at, at) {
			ledger.at = append(ledger.at, at)
		}
	}
	return ledger, nil
}

// ofLedger tells whether a file holds what a ledger does, or did: it is the
// database, its log, or a copy of it that was made before a change, by sbx or by
// Intercore.
func ofLedger(name, ledger string) bool {
	rest, ok := strings.CutPrefix(name, ledger)
	return ok && (rest == "" || rest == "-wal" || rest == "-shm" || strings.HasPrefix(rest, ".sbx-backup-") || strings.HasPrefix(rest, ".backup-"))
}

// programFile is the file that a program's name or path leads to, "" for none.
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

// watch waits for sbx exec, hands signals on and tells what is used meanwhile.
// It gives the exit status; absent where a signal ended sbx exec.
func (k *keeper) watch(signals chan os.Signal) spec.Opt[int64] {
	// A ledger that cannot be opened now may be when the row is to end.
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

// endChildren kills what a process has started, the first process of a sandbox
// and so all that is in it: sbx exec is left to write its record. It tells whether
// there was anything.
func endChildren(parent int) bool {
	tasks := "/proc/" + strconv.Itoa(parent) + "/task/"
	list, _ := os.ReadDir(tasks)
	found := false
	for _, task := range list {
		b, _ := os.ReadFile(tasks + task.Name() + "/children") // proc_pid_children(5), CONFIG_PROC_CHILDREN
		for word := range strings.FieldsSeq(string(b)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				continue
			}
			// The descriptor is of the child only if that is still one afterwards.
			p, err := os.FindProcess(pid)
			if err != nil {
				continue
			}
			if now, _ := os.ReadFile(tasks + task.Name() + "/children"); slices.Contains(strings.Fields(string(now)), word) {
				found = p.Kill() == nil || found
			}
			_ = p.Release()
		}
	}
	return found
}

func exitStatus(cmd *exec.Cmd, err error) spec.Opt[int64] {
	if cmd.ProcessState == nil || err != nil && cmd.ProcessState.ExitCode() < 0 {
		return spec.Opt[int64]{}
	}
	return spec.Some(int64(cmd.ProcessState.ExitCode()))
}

// tell tells the live file and the row what is used, where that has changed.
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
