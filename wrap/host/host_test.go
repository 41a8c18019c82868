package host

import (
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
	"sbx/wrap/outer"
)

// ProbeFor looks only for the given tools.
func TestProbeForTools(t *testing.T) {
	dir := t.TempDir()
	for _, name := range wrap.ToolNames() {
		if err := os.WriteFile(dir+"/"+name, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	r := &spec.Resolved{Spec: &spec.SandboxSpec{}}
	for _, wrapper := range outer.Wrappers() {
		want := outer.ToolsOf(wrapper)
		var got []string
		for _, tool := range ProbeFor(r, want).Tools {
			got = append(got, tool.Name)
			if tool.Path != dir+"/"+tool.Name {
				t.Errorf("%+v", tool)
			}
		}
		if !slices.Equal(got, want) || len(want) == 0 != (wrapper == "none") {
			t.Errorf("%s: %q, want %q", wrapper, got, want)
		}
	}
	if h := Probe(r); len(h.Tools) != len(wrap.ToolNames()) {
		t.Errorf("%+v", h.Tools)
	}
}

func TestKernelFacts(t *testing.T) {
	p := prober{r: &spec.Resolved{}}
	p.kernel()
	h := &p.h
	if h.Kernel.Less(wrap.Version{4, 0}) || !strings.HasPrefix(h.Release, itoa(h.Kernel[0])+".") {
		t.Errorf("%v %q", h.Kernel, h.Release)
	}
	if h.UID != os.Geteuid() || h.GID != os.Getegid() {
		t.Errorf("%d %d", h.UID, h.GID)
	}
	if h.Rungs[wrap.RungBare].State != wrap.Yes || h.UID != 0 && h.Rungs[wrap.RungRoot].State != wrap.No {
		t.Errorf("%+v", h.Rungs)
	}
	if h.LandlockABI == 0 && h.LandlockWhy == "" {
		t.Error("no Landlock, and no reason")
	}
	for _, a := range []wrap.Answer{h.Seccomp, Listener()} {
		if a.State == wrap.Unknown || a.State == wrap.No && a.Why == "" {
			t.Errorf("%+v", a)
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if caps, ok := strings.CutPrefix(line, "CapEff:\t"); ok {
			caps = strings.TrimSpace(caps)
			set, _ := strconv.ParseUint(caps, 16, 64)
			if want := set>>unix.CAP_SYS_ADMIN&1 == 1; h.SysAdmin != want {
				t.Errorf("CAP_SYS_ADMIN is %v, but /proc says %q", h.SysAdmin, caps)
			}
		}
	}
}

// Without rules only the kernel's facts are collected.
func TestNothingIsLookedAtWithoutRules(t *testing.T) {
	h := Survey(&spec.Resolved{Spec: &spec.SandboxSpec{}, Home: "/root", Network: spec.NetworkHost}, Facts())
	if h.Mounts != nil || h.Secrets != nil || h.Paths != nil || h.Sockets != nil || h.Devices != nil || h.Protected != nil {
		t.Errorf("%+v", h)
	}
}

func TestProbe(t *testing.T) {
	s := newScene(t)
	s.r.System = true
	h := Probe(s.r)
	if len(h.System) < 5 || len(h.Devices) < len(defaults.Devices()) || len(h.Mounts) == 0 {
		t.Errorf("%d of @system, %d devices, %d mounts", len(h.System), len(h.Devices), len(h.Mounts))
	}
	if h.UID == 0 && (!slices.Contains(h.ProcRO, "sys") || !slices.Contains(h.ProcMask, "keys")) {
		t.Errorf("%q %q", h.ProcRO, h.ProcMask)
	}
	for _, path := range []string{"/run", "/tmp", "/var/tmp", s.home} {
		if st, err := os.Stat(path); err == nil && st.IsDir() && h.Paths[path] != wrap.Dir {
			t.Errorf("%s is %v", path, h.Paths[path])
		}
	}
	for _, f := range h.System {
		if st, err := os.Stat(f.Real); err != nil || st.IsDir() != (f.Kind == wrap.Dir) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

func TestVersion(t *testing.T) {
	for release, want := range map[string]wrap.Version{"6.18.44-x": {6, 18}, "5.4": {5, 4}, "6": {6, 0}, "": {}, "4.19.0-25-amd64": {4, 19}, "5.15-rc1": {5, 15}, "x": {}} {
		if got := version(release); got != want {
			t.Errorf("%q is %v", release, got)
		}
	}
}

func TestLayersOf(t *testing.T) {
	for options, want := range map[string]string{
		"ro,lowerdir=/home/u:/b,upperdir=/c,workdir=/w,xino=off": "/home/u /b /c",
		"rw,lowerdir=/a\\040b:/c\\134:d:l/E::/data":              "/a b /c:d /data",
		"ro,lowerdir+=/a:b,lowerdir+=/c\\054d,datadir+=/e":       "/a:b /c,d /e",
		"rw,metacopy=on": "",
	} {
		if got := strings.Join(layersOf(options), " "); got != want {
			t.Errorf("%q has the layers %q, not %q", options, got, want)
		}
	}
}

// Every mount of this host is found, at the path that the kernel knows.
func TestMounts(t *testing.T) {
	p := mountTable{prober: &prober{r: &spec.Resolved{}}}
	p.mounts()
	if len(p.h.Mounts) == 0 {
		t.Fatal("none")
	}
	for _, m := range p.h.Mounts {
		if !strings.HasPrefix(m.Path, "/") || m.Type == "" {
			t.Errorf("%+v", m)
		}
	}
}

func TestMedia(t *testing.T) {
	p := mountTable{prober: &prober{r: &spec.Resolved{}}}
	for _, path := range []string{"/", "/mnt", "/mnt/c", "/media/me/STICK", "/media/me/OTHER", "/run/media/x", "/mediaeval"} {
		p.noteMedia(path, "0:99")
	}
	if want := []string{"/media", "/run/media"}; !slices.Equal(p.h.Removable, want) {
		t.Errorf("%q", p.h.Removable)
	}
}

func TestSocketLines(t *testing.T) {
	for line, want := range map[string]string{
		"0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/x y.sock\n": "/run/x y.sock",
		"0000000000000000: 00000003 00000000 00000000 0001 03 12345 /run/x.sock\n":   "",
		"0000000000000000: 00000002 00000000 00000000 0002 03 12345 /run/x.sock\n":   "/run/x.sock",
		"0000000000000000: 00000002 00000000 00010000 0001 01 12345 @/abstract\n":    "",
		"0000000000000000: 00000002 00000000 00010000 0001 01 12345 ./rel\n":         "",
		"0000000000000000: 00000002 00000000 00010000 0001 01 12345\n":               "",
		"/": "",
		"Num       RefCount Protocol Flags    Type St Inode Path\n": "",
	} {
		if got, _ := socketPath([]byte(strings.TrimSuffix(line, "\n"))); got != want {
			t.Errorf("%q is %q", line, got)
		}
	}
}

func TestSockets(t *testing.T) {
	s := newScene(t)
	path := s.work + "/s.sock"
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	find := func() int {
		p := s.prober()
		p.sockets()
		n := 0
		for _, f := range p.h.Sockets {
			if f.Path == path && f.Kind == wrap.Socket {
				n++
			}
		}
		return n
	}
	if n := find(); n != 1 {
		t.Errorf("found %d times", n)
	}
	s.r.Write = append(s.r.Write, specPath(path, "filesystem.write[0]"))
	if n := find(); n != 0 {
		t.Errorf("found %d times although the spec names it", n)
	}
}

// Descriptors that the probe opens are closed again.
func TestProbeLeavesNothingOpen(t *testing.T) {
	count := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	s := newScene(t)
	s.git("work", "init", "-q")
	s.r.System = true
	Probe(s.r)
	before := count()
	for range 3 {
		Probe(s.r)
	}
	if after := count(); after != before {
		t.Errorf("%d open before, %d after", before, after)
	}
}

// BenchmarkProbe is the probe of a small repository and a home of some twenty
// names, as at each start of sbx exec.
func BenchmarkProbe(b *testing.B) {
	dir := b.TempDir()
	home, work := dir+"/home", dir+"/work"
	for _, d := range []string{home, home + "/.ssh", home + "/.config", home + "/.config/gh", home + "/.cache", home + "/.local",
		work, work + "/src", work + "/docs", work + "/.git", work + "/.git/hooks", work + "/.git/objects", work + "/.git/refs"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for _, f := range []string{home + "/.netrc", home + "/.bash_history", home + "/.gitconfig", home + "/.profile", work + "/README",
		work + "/.git/HEAD", work + "/.git/config", work + "/.git/index"} {
		if err := os.WriteFile(f, []byte("[core]\n\tbare = false\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	r := &spec.Resolved{Spec: &spec.SandboxSpec{}, AccessMode: spec.WorkspaceWrite, Home: home, WorkingDir: specPath(work, ""),
		Private: true, FileRules: true, SideDoors: true, Network: spec.NetworkNone,
		Read: []spec.Path{specPath(dir, "")}, Write: []spec.Path{specPath(work, "")}}
	for b.Loop() {
		Probe(r)
	}
}

// A supervisor that cannot read the memory of a call's caller answers no calls.
func TestMemoryThatIsNotRead(t *testing.T) {
	if a := readsMemory(); a.State == wrap.No && sysctl("/proc/sys/kernel/yama/ptrace_scope") != "3" {
		t.Error(a.Why)
	}
	for _, scope := range []string{"", "0", "1", "2"} {
		if a := memoryAnswer(nil, scope); a.State != wrap.Unknown {
			t.Errorf("%q: %v", scope, a)
		}
	}
	for _, a := range []wrap.Answer{memoryAnswer(nil, "3"), memoryAnswer(unix.EACCES, "0")} {
		if a.State != wrap.No || !strings.Contains(a.Why, "memory") {
			t.Error(a)
		}
	}
}
