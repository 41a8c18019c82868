package life

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sbx/spec"
)

// The prompt, the output and the project must not be reached through a link that an earlier command
// may have left: in the job's working directory, in the directory from which the job was sent, or
// in a writable path of its spec. Links elsewhere are followed.
func TestPlantedLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, name := range []string{"project", "cwd", "data", "else", "target", "home"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		must(t, os.Symlink(filepath.Join(dir, "target"), filepath.Join(dir, name, "far")))
		must(t, os.Mkdir(filepath.Join(dir, name, "sub"), 0o755))
		must(t, os.Symlink("sub", filepath.Join(dir, name, "near")))
		must(t, os.WriteFile(filepath.Join(dir, name, "sub", "f"), []byte("near"), 0o644))
	}
	must(t, os.WriteFile(filepath.Join(dir, "target", "f"), []byte("far"), 0o644))
	w := &World{Home: filepath.Join(dir, "home")}
	for _, c := range []struct {
		at   string
		spec string
		bad  bool
	}{
		{"project/far", "", true}, {"cwd/far", "", true}, {"data/far", `{"filesystem": {"write": ["` + dir + `/data"]}}`, true},
		{"data/far", `{"filesystem": {"write": ["../data"]}}`, true}, {"home/far", `{"working_dir": "~", "access_mode": "workspace-write"}`, true},
		{"project/far", `{"bad`, true},
		{"data/far", "", false}, {"else/far", "", false}, {"project/near", "", false}, {"cwd/near", "", false}, {"target", "", false},
	} {
		j := &Job{Project: filepath.Join(dir, "project"), Cwd: filepath.Join(dir, "cwd"), Spec: c.spec, HasSpec: c.spec != "", Sandbox: "workspace-write", HasSandbox: true}
		at := filepath.Join(dir, c.at)
		prompt, err := w.openPrompt(j, at+"/f")
		if err == nil {
			_ = prompt.Close()
		}
		output, err2 := w.openTarget(j, at+"/o")
		if err2 == nil {
			must(t, output.replace("", []byte("x")))
			must(t, output.Close())
			must(t, os.Remove(at+"/o"))
		}
		there := *j
		there.Project = at
		_, err3 := w.Project(&there)
		if strings.HasPrefix(c.at, "project") || strings.HasPrefix(c.spec, `{"work`) || strings.Contains(c.spec, "../") {
			err3 = err // relative to the project, which is another one here
		}
		for i, err := range []error{err, err2, err3} {
			if (err != nil) != c.bad || c.bad && (!strings.Contains(err.Error(), "earlier command may have left it") || spec.AsProblems(err)[0].Help == "") {
				t.Errorf("%s under %s: %d: %v", c.at, c.spec, i, err)
			}
		}
	}
}

// The resolved path is opened: a link that was put there since is not followed.
func TestOpenedAsResolved(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.MkdirAll(dir+"/a/b", 0o755))
	must(t, os.WriteFile(dir+"/a/b/f", nil, 0o644))
	for _, open := range []func(string) error{
		func(path string) error { f, err := openReal(path+"/f", os.O_RDONLY); return closed(f, err) },
		func(path string) error { r, err := openRoot(path); return closed(r, err) },
	} {
		must(t, open(dir+"/a/b"))
		must(t, os.Rename(dir+"/a", dir+"/moved"))
		must(t, os.Symlink("moved", dir+"/a"))
		if err := open(dir + "/a/b"); err == nil || !strings.Contains(err.Error(), "too many levels of symbolic links") {
			t.Errorf("a link on the way: %v", err)
		}
		must(t, os.Remove(dir+"/a"))
		must(t, os.Rename(dir+"/moved", dir+"/a"))
	}
}

func closed[F interface{ Close() error }](f F, err error) error {
	if err == nil {
		err = f.Close()
	}
	return err
}
