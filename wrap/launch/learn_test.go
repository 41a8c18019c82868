package launch

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap"
)

// Learn derives from a failed step what the host does not support.
func TestLearn(t *testing.T) {
	listener := Step{Name: "seccomp", Args: [6]Arg{num(unix.SECCOMP_SET_MODE_FILTER), num(seccomp.ListenerFlags)}}
	overlay := Step{Name: "mount", Args: [6]Arg{text("overlay")}}
	whiteout := Step{Name: "mknodat", Args: [6]Arg{fdcwd, text("/x"), num(unix.S_IFCHR)}}
	file := Step{Name: "mknodat", Args: [6]Arg{fdcwd, text("/x"), num(unix.S_IFREG)}}
	const (
		nothing = "nothing"
		rung    = "rung"
		land    = "landlock"
		filter  = "seccomp"
		layer   = "overlay"
		notify  = "listener"
		attr    = "setattr"

		processes = "pid_max"
	)
	for _, row := range []struct {
		step    Step
		program string
		errno   unix.Errno
		rung    wrap.Rung
		want    string
	}{
		{Step{Name: "clone"}, "setup", unix.EPERM, wrap.RungUser, rung},
		{Step{Name: "clone"}, "setup", unix.EINVAL, wrap.RungUser, rung},
		{Step{Name: "clone"}, "setup", unix.ENOSPC, wrap.RungUser, rung},
		{Step{Name: "clone"}, "setup", unix.EUSERS, wrap.RungUser, rung},
		{Step{Name: "clone"}, "setup", unix.ENOMEM, wrap.RungUser, nothing},
		{Step{Name: "clone"}, "setup", unix.EAGAIN, wrap.RungUser, nothing},
		{Step{Name: "clone"}, "setup", unix.EPERM, wrap.RungBare, nothing},
		{Step{Name: "mount"}, "setup", unix.EPERM, wrap.RungUser, rung},
		{Step{Name: "mount"}, "setup", unix.EACCES, wrap.RungRoot, rung},
		{Step{Name: "mount"}, "setup", unix.ENOSPC, wrap.RungUser, nothing},
		{Step{Name: "mount"}, "setup", unix.ENOENT, wrap.RungUser, nothing},
		{Step{Name: "mount_setattr"}, "setup", unix.ENOSYS, wrap.RungUser, attr},
		{Step{Name: "mount_setattr"}, "setup", unix.EPERM, wrap.RungUser, rung},
		{Step{Name: "remount each"}, "setup", unix.EOPNOTSUPP, wrap.RungUser, rung},
		{Step{Name: "remount each"}, "setup", unix.EPERM, wrap.RungRoot, rung},
		{Step{Name: "remount each"}, "setup", unix.ENOMEM, wrap.RungUser, nothing},
		{Step{Name: "move_mount"}, "setup", unix.EINVAL, wrap.RungUser, rung},
		{Step{Name: "openat2"}, "setup", unix.ENOENT, wrap.RungUser, nothing},
		{Step{Name: "openat2"}, "setup", unix.ELOOP, wrap.RungUser, nothing},
		{Step{Name: "write"}, "setup", unix.EPERM, wrap.RungUser, rung},
		{Step{Name: "pivot_root"}, "setup", unix.EOPNOTSUPP, wrap.RungRoot, rung},
		{Step{Name: "launch"}, "setup", unix.ECHILD, wrap.RungUser, nothing},
		{Step{Name: "execve"}, "command", unix.EACCES, wrap.RungUser, nothing},
		{Step{Name: "prlimit64"}, "command", unix.EPERM, wrap.RungUser, nothing},
		{Step{Name: "landlock_create_ruleset"}, "setup", unix.ENOSYS, wrap.RungUser, land},
		{Step{Name: "landlock_add_rule"}, "setup", unix.EINVAL, wrap.RungUser, land},
		{Step{Name: "landlock_restrict_self"}, "command", unix.EPERM, wrap.RungBare, land},
		{Step{Name: "landlock_restrict_self"}, "setup", unix.E2BIG, wrap.RungUser, nothing},
		{Step{Name: "landlock_add_rule"}, "setup", unix.EBADF, wrap.RungUser, nothing},
		{Step{Name: "seccomp"}, "setup", unix.EPERM, wrap.RungUser, filter},
		{Step{Name: "seccomp"}, "command", unix.EINVAL, wrap.RungBare, filter},
		{Step{Name: "seccomp"}, "setup", unix.ENOMEM, wrap.RungUser, nothing},
		{listener, "setup", unix.EBUSY, wrap.RungUser, notify},
		{listener, "command", unix.EINVAL, wrap.RungFree, notify},
		{listener, "setup", unix.EPERM, wrap.RungUser, notify},
		{Step{Name: "write", On: wrap.PidMaxFile}, "opening", unix.EINVAL, wrap.RungUser, processes},
		{Step{Name: "openat", On: wrap.PidMaxFile}, "opening", unix.EACCES, wrap.RungRoot, processes},
		{overlay, "setup", unix.EPERM, wrap.RungUser, layer},
		{overlay, "setup", unix.ENODEV, wrap.RungUser, layer},
		{whiteout, "setup", unix.EPERM, wrap.RungUser, layer},
		{file, "setup", unix.EPERM, wrap.RungUser, rung},
		{file, "setup", unix.ENOSPC, wrap.RungUser, nothing},
	} {
		h := wrap.Host{LandlockABI: 6}
		e := &StepError{Program: row.program, Step: row.step, Errno: Errno(row.errno)}
		next, ok := Learn(h, &wrap.Plan{Opening: wrap.Opening{Rung: row.rung}}, e)
		got := nothing
		switch {
		case next.LandlockABI == 0 && next.LandlockWhy == e.Error():
			got = land
		case next.Seccomp.State == wrap.No && next.Seccomp.Why == e.Error():
			got = filter
		case next.Listener.State == wrap.No && next.Listener.Why != "":
			got = notify
		case next.Overlay.State == wrap.No && next.Overlay.Why == e.Error():
			got = layer
		case next.SetAttr.State == wrap.No && next.SetAttr.Why == e.Error():
			got = attr
		case next.PidMax.State == wrap.No && next.PidMax.Why == e.Error():
			got = processes
		case next.Rungs[row.rung].State == wrap.No && next.Rungs[row.rung].Why == e.Error():
			got = rung
		}
		if got != row.want || ok != (row.want != nothing) {
			t.Errorf("%s of %s with %v on rung %v: learned %s (%v), want %s", row.step.Name, row.program, row.errno, row.rung, got, ok, row.want)
		}
	}
}

// A directory that cannot have a layer loses it, and the others keep theirs. If overlayfs does
// not work, or fails for many directories, no directory has one.
func TestLearnOfCopies(t *testing.T) {
	h := wrap.Host{}
	for _, dir := range []string{"/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h", "/i", "/j"} {
		h.Layers = append(h.Layers, wrap.Layer{Dir: dir})
	}
	fails := func(h wrap.Host, dir string, e unix.Errno) wrap.Host {
		t.Helper()
		step := Step{Name: "mount", Args: [6]Arg{text("overlay")}, On: dir, For: wrap.FieldLayer}
		next, ok := Learn(h, &wrap.Plan{}, &StepError{Program: "setup", Step: step, Errno: Errno(e)})
		if !ok {
			t.Fatalf("%s %v: nothing is learned", dir, e)
		}
		return next
	}
	next := fails(h, "/b", unix.EINVAL)
	if next.Layer.State == wrap.No || next.Layers[1].Why == "" || next.Layers[0].Why != "" || h.Layers[1].Why != "" {
		t.Errorf("%+v", next.Layers)
	}
	if next := fails(h, "/b", unix.EPERM); next.Layer.State != wrap.No {
		t.Errorf("%+v", next.Layers)
	}
	tries := 0
	for next = h; next.Layer.State != wrap.No && tries < len(h.Layers); tries++ {
		next = fails(next, h.Layers[tries].Dir, unix.EINVAL)
	}
	if tries != maxUnlayered+1 {
		t.Errorf("%d directories are learned of", tries)
	}
}

// Whatever fails, a caller that builds and launches again comes to an end.
func TestLearningEnds(t *testing.T) {
	s, err := spec.Decode("spec.json", []byte(`{"access_mode": "workspace-write", "best_effort": ["*"]}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := spec.Resolve(s, spec.Inputs{Home: "/root", Cwd: "/", Environ: nil, Paths: spec.HostPaths{}})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	errnos := []unix.Errno{unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EINVAL, unix.EOPNOTSUPP, unix.ENOSPC, unix.EUSERS, unix.ENOENT}
	learned := 0
	for range 300 {
		h := wrap.Host{LandlockABI: 6, Seccomp: wrap.Answer{State: wrap.Yes}, Paths: map[string]wrap.Kind{"/tmp": wrap.Dir},
			Secrets: []wrap.Found{{Path: "/etc/shadow", Real: "/etc/shadow", Kind: wrap.File}}}
		tries := 0
		for ; tries < 20; tries++ {
			plan, err := wrap.Build(&r, &h, wrap.Request{Counter: wrap.CounterAuto, Argv: []string{"x"}, Program: wrap.Program{Path: "/bin/x", Real: "/bin/x"}})
			if err != nil {
				break
			}
			p := Steps(plan, Input{Sock: 9, Filter: "12345678", Own: "12345678"})
			steps, name := p.Setup, "setup"
			if len(steps) == 0 || random.IntN(4) == 0 {
				steps, name = p.Command, "command"
			}
			i := random.IntN(len(steps))
			next, ok := Learn(h, plan, &StepError{Program: name, Index: i, Step: steps[i], Errno: Errno(errnos[random.IntN(len(errnos))])})
			if !ok {
				break
			}
			learned++
			h = next
		}
		if tries > 6 { // two rungs, Landlock, seccomp, the overlay, mount_setattr
			t.Fatalf("%d launches, and still not at an end", tries)
		}
	}
	if learned < 100 {
		t.Errorf("only %d lessons", learned)
	}
}
