package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// place has the directories of one caller: a workspace that is a git repository, a home, and a spec
// that names the workspace.
type place struct {
	uid       int // -1 for the caller itself
	workspace string
	home      string
	spec      string
	env       []string
}

// bencher has everything that jobs need.
type bencher struct {
	options
	dir  string
	root bool
	own  place // the caller's
	big  place // the caller's, with 50,000 files: there the search of a workspace takes longer
	user place // an ordinary user's; the caller's own, if the caller is one

	swept int  // how often sweep was called
	cost  cost // of an answer, once it was measured
}

// helper is this program's name in a workspace, which is in view.
const helper = "helper"

func newBench(o options) (*bencher, error) {
	if _, err := exec.LookPath(o.bwrap); err != nil {
		return nil, fmt.Errorf("nothing to compare with: %w", err)
	}
	dir, err := os.MkdirTemp("/var/tmp", "sbx-bench.")
	if err != nil {
		return nil, err
	}
	b := &bencher{options: o, dir: dir, root: os.Getuid() == 0}
	if err := b.furnish(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bencher) close() {
	_ = os.RemoveAll(b.dir)
	_ = os.RemoveAll(b.memoryDir())
}

func (b *bencher) furnish() error {
	if err := os.Chmod(b.dir, 0o755); err != nil {
		return err
	}
	sbx := filepath.Join(b.dir, "sbx")
	if err := copyProgram(b.sbx, sbx); err != nil {
		return err
	}
	for _, name := range []string{"sbx-dispatch", "sbx-oci", "sbx-init", relay, broker} {
		if beside := filepath.Join(filepath.Dir(b.sbx), name); exists(beside) {
			if err := copyProgram(beside, filepath.Join(filepath.Dir(sbx), name)); err != nil {
				return err
			}
		}
	}
	b.sbx = sbx
	var err error
	if b.own, err = b.furnishPlace("own", -1); err != nil {
		return err
	}
	if b.big, err = b.furnishPlace("big", -1); err != nil {
		return err
	}
	b.user = b.own
	if b.root {
		b.user, err = b.furnishPlace("user", b.uid)
	}
	return err
}

func (b *bencher) furnishPlace(name string, uid int) (place, error) {
	top := filepath.Join(b.dir, name)
	p := place{
		uid:       uid,
		workspace: filepath.Join(top, "project"),
		home:      filepath.Join(top, "home"),
		spec:      filepath.Join(top, "spec.json"),
	}
	p.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "LANG=C.UTF-8", "XDG_STATE_HOME=" + filepath.Join(top, "state")}
	for _, d := range []string{p.workspace, p.home, filepath.Join(top, "state")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return p, err
		}
	}
	spec := fmt.Sprintf("{\"access_mode\": \"workspace-write\", \"working_dir\": %q}\n", p.workspace)
	if err := os.WriteFile(p.spec, []byte(spec), 0o644); err != nil {
		return p, err
	}
	if err := deepFile(p.workspace); err != nil {
		return p, err
	}
	self, err := os.Executable()
	if err != nil {
		return p, err
	}
	if err := copyProgram(self, filepath.Join(p.workspace, helper)); err != nil {
		return p, err
	}
	script := "git init -q . && git -c user.name=b -c user.email=b@localhost commit -q --allow-empty -m start"
	if out, err := b.shell(p.workspace, script); err != nil {
		return p, fmt.Errorf("%w: %s", err, out)
	}
	if uid < 0 {
		return p, nil
	}
	return p, filepath.Walk(top, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	})
}

// deepFile makes the file that the open-read-close loop opens: six components below the workspace,
// like a source file.
func deepFile(workspace string) error {
	d := filepath.Join(workspace, "a/b/c/d/e")
	if err := os.MkdirAll(d, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d, "f"), []byte(strings.Repeat("x", 100)), 0o644)
}

func (b *bencher) shell(dir, script string) (string, error) {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+b.dir, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	// otherwise a page that is not written back yet would count as the program's own dirty memory
	if err := out.Sync(); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// options are the options of the command line.
type options struct {
	sbx    string
	bwrap  string
	quick  bool
	rounds int
	settle time.Duration
	only   *regexp.Regexp
	json   string
	gate   bool
	uid    int
}

// broker is the program that decides and runs the calls of tools.
const broker = "sbx-broker"

// relay is the program that makes the connections which network.allow allows.
const relay = "sbx-egress"

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// memoryDir returns a directory of the benchmark's own on a tmpfs.
func (b *bencher) memoryDir() string { return filepath.Join("/dev/shm", filepath.Base(b.dir)) }
