package life

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sbx/dispatch"
	"sbx/spec"
)

// The test binary is also the processes to be killed: with "helper" and more arguments it runs the
// real code and stops at a step.
type part struct {
	Do     string // spawn, keep or drive
	Stop   string // the step at which it stops
	Keeper string // the step at which its keeper stops
	Marker string // a file that it makes when it has stopped
	World  facts
	Job    Job
	Driver Driver
	Row    dispatch.Dispatch
}

// facts are the parts of a World that are passed to another process.
type facts struct{ Sbx, StateDir, Live, Version string }

func (w *World) facts() facts { return facts{w.Sbx, w.StateDir, w.Live, w.Version} }

func (p part) words() []string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return []string{os.Args[0], "helper", string(b)}
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		os.Exit(help())
	}
	os.Exit(m.Run())
}

// help is a process that a test starts.
func help() int {
	var p part
	if err := json.Unmarshal([]byte(os.Args[2]), &p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	w := &World{Sbx: p.World.Sbx, StateDir: p.World.StateDir, Live: p.World.Live, Version: p.World.Version, Errors: os.Stderr, Environ: os.Environ()}
	w.Step = func(name string) {
		if name != p.Stop {
			return
		}
		if err := os.WriteFile(p.Marker, []byte(name), 0o600); err != nil {
			panic(err)
		}
		select {} // until it is killed
	}
	keeper := part{Do: "keep", Stop: p.Keeper, Marker: p.Marker, World: p.World}
	w.Self = keeper.words()
	switch p.Do {
	case "keep":
		return w.Keep(os.Args[3], os.Stdin)
	case "drive":
		return w.Drive(p.Driver)
	case "disk":
		return disk(w, p.Marker)
	}
	row, err := w.Spawn(&p.Job, p.Row)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(row.ID)
	return 0
}

// scene is a place for one dispatch.
type scene struct {
	t     *testing.T
	dir   string
	world World
	db    dispatch.Place
}

// newScene makes one in a directory that is not private inside.
func newScene(t *testing.T) *scene {
	t.Helper()
	dir := outside(t)
	s := &scene{t: t, dir: dir, db: dispatch.Place{Path: filepath.Join(dir, "ledger", "dispatches.db")}}
	for _, d := range []string{"project", "state", "home", "live", "ledger"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.world = World{Sbx: program(t), StateDir: filepath.Join(dir, "state", "sbx"), Live: filepath.Join(dir, "live"), Version: "test",
		Environ: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + filepath.Join(dir, "home"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "LANG=C.UTF-8"}}
	s.world.Self = part{Do: "keep", World: s.world.facts()}.words()
	return s
}

// outside returns a directory of the test's own that no private directory of a sandbox covers, if
// possible.
func outside(t *testing.T) string {
	t.Helper()
	home, _ := os.UserHomeDir()
	for _, root := range []string{os.Getenv("SBX_TEST_ELSEWHERE"), home, "/srv", "/var/lib"} {
		if root == "" || root == "/" || strings.HasPrefix(root, "/tmp") {
			continue
		}
		dir, err := os.MkdirTemp(root, "sbx-life.")
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	return t.TempDir()
}

// built is sbx: the program in bin if no source is newer, or one that is built for this run.
var built string

func program(t *testing.T) string {
	t.Helper()
	if built != "" {
		return built
	}
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(top, "bin", "sbx")
	if info, err := os.Stat(bin); err == nil && !younger(top, info.ModTime()) {
		built = bin
		return built
	}
	dir, err := os.MkdirTemp("", "sbx-life-bin.")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("sh", filepath.Join(top, "scripts", "build.sh"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	built = filepath.Join(dir, "sbx")
	return built
}

// younger reports whether a source of sbx was changed after a time.
func younger(top string, than time.Time) bool {
	found := errors.New("found")
	for _, room := range []string{"spec", "wrap", "audit", "landlock", "seccomp", "cmd/sbx"} {
		err := filepath.WalkDir(filepath.Join(top, room), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			if info, err := d.Info(); err == nil && info.ModTime().After(than) {
				return found
			}
			return nil
		})
		if err == found {
			return true
		}
	}
	return false
}

// start starts a process of the scene.
func (s *scene) start(p part) *exec.Cmd {
	s.t.Helper()
	words := p.words()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = s.world.Environ, filepath.Join(s.dir, "project"), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd
}

// job returns a command for a dispatch in the project's directory.
func (s *scene) job(argv ...string) Job {
	return Job{Ledger: s.db, Project: filepath.Join(s.dir, "project"), Argv: argv, Agent: "sh", Sandbox: "workspace-write", HasSandbox: true}
}

func (s *scene) row(j Job) dispatch.Dispatch {
	d := dispatch.Dispatch{AgentType: j.Agent, ProjectDir: j.Project, Sandbox: spec.Some(j.Sandbox)}
	if j.HasSpec {
		d.SandboxSpec = spec.Some(j.Spec)
	}
	if j.Output != "" {
		d.OutputFile = spec.Some(j.Output)
	}
	return d
}

// spawn starts a dispatch and returns its id.
func (s *scene) spawn(j Job) string {
	s.t.Helper()
	d, err := s.world.Spawn(&j, s.row(j))
	if err != nil {
		s.t.Fatal(err)
	}
	return d.ID
}

func (s *scene) ledger() *dispatch.Ledger {
	s.t.Helper()
	l, err := dispatch.Open(s.db, dispatch.Write)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { l.Close() })
	return l
}

// ended polls until a dispatch has ended, and fails if it changes after that.
func (s *scene) ended(l *dispatch.Ledger, id string) dispatch.Dispatch {
	s.t.Helper()
	var d dispatch.Dispatch
	within(s.t, "the row has ended", func() bool {
		var err error
		if d, err = s.world.Poll(l, id); err != nil {
			s.t.Fatal(err)
		}
		return d.Status.Ended()
	})
	if again, err := s.world.Poll(l, id); err != nil || again != d {
		s.t.Errorf("a second poll changes %+v to %+v, %v", d, again, err)
	}
	return d
}

// within waits until is returns true.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("not within 20 s: %s", what)
}

// record returns the record of a row.
func record(t *testing.T, d dispatch.Dispatch) map[string]any {
	t.Helper()
	var r map[string]any
	if err := json.Unmarshal([]byte(d.SandboxEffective.Value), &r); err != nil {
		t.Fatalf("%q: %v", d.SandboxEffective.Value, err)
	}
	return r
}

// needSandbox skips on a host without namespaces for a sandbox.
func needSandbox(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it starts sandboxes")
	}
	dir := outside(t)
	cmd := exec.Command(program(t), "exec", "--effective", filepath.Join(dir, "r.json"), "--", "true")
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		if os.Getenv("SBX_TEST_MUST_RUN") == "1" {
			t.Fatalf("must run, and cannot: %v %s", err, out)
		}
		t.Skipf("no sandbox on this host: %v %s", err, out)
	}
}
