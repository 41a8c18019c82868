package launch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
)

// The list of a renewal, as it prints.
func TestRenewalGolden(t *testing.T) {
	plan := madeUp(t)
	list := append(slices.Clone(plan.Watch.Renew), wrap.Renewal{Path: "/home/u/w/token",
		Mount: wrap.Mount{Op: wrap.OpPlace, Slot: 42, Target: "/home/u/w/token", Mode: wrap.ModeRO, Soft: true, For: "filesystem.hide"}})
	got := ""
	for _, remount := range []bool{false, true} {
		for _, s := range renewalSteps(list, sandboxFDs{user: 11, mounts: 12, masks: [2]int{13, -1}}, remount) {
			got += s.String() + "\n"
		}
	}
	file := filepath.Join("testdata", "steps", "renewal.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Fatalf("%v: the steps are now\n%s\nwrite them with: go test ./wrap/launch -run RenewalGolden -update, and read them", err, got)
	}
}

// A failed step skips one mount and closes the opened descriptors.
func TestRenewalSkips(t *testing.T) {
	list := madeUp(t).Watch.Renew
	if len(list) != 2 {
		t.Fatalf("%d renewals, want .git and its config", len(list))
	}
	for _, remount := range []bool{false, true} {
		renewalSkips(t, renewalSteps(list, sandboxFDs{user: -1, mounts: 12}, remount))
	}
}

func renewalSkips(t *testing.T, steps []Step) {
	t.Helper()
	for i := range steps {
		s := &steps[i]
		switch {
		case s.Call == unix.SYS_SETNS && s.Args[1].Num == unix.CLONE_NEWUSER:
			t.Error("it joins a user namespace that is the supervisor's own")
		case s.Call == unix.SYS_CLOSE:
			if s.Expected != Errno(unix.EBADF) || s.Tolerant {
				t.Errorf("%v", s)
			}
		case !s.Tolerant:
		default:
			next := i + 1 + int(s.Skip)
			if steps[next-1].On != s.On || steps[next].Name != "close" && steps[next].On == s.On {
				t.Errorf("step %d leaves out up to %v: %v", i, steps[next], s)
			}
		}
	}
}

// renewed runs a renewal to its end.
func renewed(t *testing.T, steps []Step) (failed []*StepError) {
	t.Helper()
	r, err := renew(steps)
	if err != nil {
		t.Fatal(err)
	}
	for gone := false; !gone; {
		pf := []unix.PollFd{{Fd: int32(r.FD()), Events: unix.POLLIN}}
		if n, err := unix.Poll(pf, 10000); n == 0 || err != nil && err != unix.EINTR {
			r.Kill()
			t.Fatalf("the child says nothing: %v", err)
		}
		var more []*StepError
		more, gone = r.Read()
		failed = append(failed, more...)
	}
	return failed
}

// Each step of a renewal fails in turn. The failure is reported, nothing is left behind, and
// the sandbox goes on.
func TestEachStepOfARenewalFails(t *testing.T) {
	for _, name := range []string{"namespaces", "no mount_setattr"} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			kinds[name](s)
			eachStepOfARenewalFails(t, s)
		})
	}
}

func eachStepOfARenewalFails(t *testing.T, s *site) {
	s.mustHaveNamespaces()
	plan := s.plan(workspaceWrite, "/bin/sh", "-c", "while ! test -e go; do sleep 0.05; done; exit 7")
	onThread(func() {
		pr := running(t, plan)
		if pr == nil {
			return
		}
		s.failRenewals(pr)
		if err := os.WriteFile(s.dir+"/go", nil, 0o644); err != nil {
			t.Error(err)
		}
		if exit := pr.Supervise(lenient(pr)); exit.Code != 7 {
			t.Errorf("%+v", exit)
		}
		if in := pr.renewal.in; in != noRenewal.in {
			t.Errorf("descriptors are left: %+v", in)
		}
	})
}

func (s *site) mustHaveNamespaces() {
	if plan := s.plan(workspaceWrite, "/bin/true"); !plan.Has(wrap.MountNS) {
		lacks(s.t, "no mount namespace")
	}
}

func (s *site) failRenewals(pr *Process) {
	t := s.t
	config := s.dir + "/.git/config"
	replace := func() {
		if err := os.WriteFile(config+".new", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(config+".new", config); err != nil {
			t.Fatal(err)
		}
	}
	all := renewalSteps(pr.renewal.list, pr.renewal.in, pr.renewal.remount)
	fds, kids := allDescriptors(t), len(read.Children("self"))
	for i := range all {
		replace()
		steps := slices.Clone(all)
		spoil(&steps[i])
		failed := renewed(t, steps)
		on := steps[i].On
		// A mount that still exists is skipped after the check.
		told := on == config || !slices.ContainsFunc(all[:i], func(s Step) bool { return s.On == on && s.Expected == Errno(unix.EXDEV) })
		switch {
		case told && (len(failed) != 1 || failed[0].Index != i || failed[0].Program != "renewal" || unix.Errno(failed[0].Errno) != unix.ENOSYS):
			t.Errorf("step %d, %v: told as %v", i, steps[i], failed)
		case !told && len(failed) > 0 && failed[0].Index != i:
			t.Errorf("step %d, %v: told as %v", i, steps[i], failed)
		}
	}
	replace()
	if failed := renewed(t, all); len(failed) != 0 {
		t.Errorf("nothing was spoilt: %v", failed)
	}
	if failed := renewed(t, all); len(failed) != 0 { // all is there already
		t.Errorf("again: %v", failed)
	}
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	if failed := renewed(t, all); len(failed) != 1 || unix.Errno(failed[0].Errno) != unix.ENOENT || failed[0].Step.On != config {
		t.Errorf("nothing stands there: %v", failed)
	}
	if err := os.Symlink("elsewhere", config); err != nil {
		t.Fatal(err)
	}
	if failed := renewed(t, all); len(failed) != 1 || unix.Errno(failed[0].Errno) != unix.ELOOP || failed[0].Step.On != config {
		t.Errorf("a link stands there: %v", failed)
	}
	endless := append(slices.Clone(all[:1]), Step{Name: "ppoll", Call: unix.SYS_PPOLL})
	r, err := renew(endless)
	if err != nil {
		t.Fatal(err)
	}
	if failed, gone := r.Read(); gone || len(failed) != 0 {
		t.Errorf("it waits: %v %v", failed, gone)
	}
	r.Kill()
	for gone := false; !gone; {
		var failed []*StepError
		unix.Poll([]unix.PollFd{{Fd: int32(r.FD()), Events: unix.POLLIN}}, 1000)
		if failed, gone = r.Read(); gone && len(failed) != 1 {
			t.Errorf("it was killed: %v", failed)
		}
	}
	if n, k := allDescriptors(t), len(read.Children("self")); n != fds || k != kids {
		t.Errorf("%d descriptors and %d processes, before there were %d and %d", n, k, fds, kids)
	}
}

// A path that has become a symlink since planning is not mounted on, even if only its last
// name is one.
func TestFinalLinkIsNotMountedOn(t *testing.T) {
	s := newSite(t)
	s.mustHaveNamespaces()
	plan := s.plan(workspaceWrite, "/bin/true")
	config := s.dir + "/.git/config"
	if err := os.Rename(config, config+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("config.old", config); err != nil {
		t.Fatal(err)
	}
	var err error
	onThread(func() { err = Try(plan) })
	if e, ok := err.(*StepError); !ok || unix.Errno(e.Errno) != unix.ELOOP || e.Step.On != config {
		t.Errorf("%v, want ELOOP on %s", err, config)
	}
}
