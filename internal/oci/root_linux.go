package oci

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"sbx/internal/view"
	"sbx/wrap"
)

// root creates a root directory that holds only the mount points of nodes, and symlinks. The
// directory stays until the container is deleted: runc enters it for each process.
func (s *shelf) root(nodes []wrap.Node) (path string, err error) {
	path = s.dir + "/" + rootDir
	if err := os.Mkdir(path, 0o755); err != nil {
		return "", err
	}
	if err := unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID, "mode=755"); err != nil {
		return "", &os.PathError{Op: "mount", Path: path, Err: err}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	for i := range nodes {
		n := &nodes[i]
		mountedOver := func(o wrap.Node) bool {
			return o.Path != n.Path && view.Within(n.Path, o.Path) && o.Kind != wrap.NodeDir && o.Kind != wrap.NodeLink && o.Kind != wrap.NodeReadOnly
		}
		if n.Path == "/" || slices.ContainsFunc(nodes, mountedOver) {
			continue
		}
		switch name := n.Path[1:]; n.Kind {
		case wrap.NodeDir:
			err = root.MkdirAll(name, 0o755)
		case wrap.NodeLink:
			err = root.Symlink(n.Text, name)
		case wrap.NodeFile:
			err = root.WriteFile(name, nil, 0o644)
		}
		if err != nil {
			return "", err
		}
	}
	return path, nil
}
