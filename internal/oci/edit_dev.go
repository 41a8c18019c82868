package oci

import (
	"path/filepath"
	"strconv"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/oci/walls"
	"sbx/internal/view"
	"sbx/spec"
)

// ofRuntime reports whether a mount is one that every container has in /proc and /dev, or that
// Kubernetes adds there.
func (p *Place) ofRuntime() bool {
	if p.binds() {
		return p.Path == "/dev/shm" || p.isTerminationLog()
	}
	return kernels(p.Path) && (p.Type != "proc" || p.Path == "/proc") // a second one would be writable
}

// terminationLog is the file by which a container tells Kubernetes why it ended.
const terminationLog = "/dev/termination-log"

// isTerminationLog reports whether the mount is the file that the kubelet makes for this purpose,
// in pods/UID/containers/NAME of its directory. Only this file is writable regardless of the spec.
func (p *Place) isTerminationLog() bool {
	in := strings.Split(p.Source, "/")
	n := len(in)
	return p.Path == terminationLog && p.IsFile && n > 5 && in[n-5] == "pods" && in[n-3] == "containers"
}

// dev has the path to sbx-init, through which the runtime also starts exec's processes, on a mount at
// /dev of the container's own. What is put there all the same is not started: see follow. dev returns
// the mount if the engine has none there.
func (e *editor) dev() ([]*doc.Node, error) {
	const dev = "/dev"
	if e.s.Dev != dev {
		return nil, &spec.Problem{On: dev, Do: "hold the spec in the container", Why: "its image has a link there, to " + spec.Word(e.s.Dev) + ", which something in the container could turn elsewhere",
			Help: "take an image whose /dev is a directory"}
	}
	there := false
	for i := range e.s.Places {
		p := &e.s.Places[i]
		if there = there || p.Path == dev; p.Path == dev && p.binds() || p.Path == walls.Init || p.Path == walls.File {
			return nil, &spec.Problem{On: p.Path, Do: "hold the spec in the container", Why: "a volume is mounted there, in which others could put another program in the place of sbx-init",
				Help: "leave the volume out"}
		}
	}
	if there {
		return nil, nil
	}
	m := Mount{Target: dev, Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "mode=755"}}
	return []*doc.Node{m.node()}, nil
}

// inProcess reports whether a mount is in the directory of a process in /proc.
func (p *Place) inProcess() bool {
	for _, path := range []string{p.Path, filepath.Clean(p.Target)} {
		rest, is := strings.CutPrefix(path, "/proc/")
		of, _, _ := strings.Cut(rest, "/")
		if _, err := strconv.ParseUint(of, 10, 64); is && (err == nil || of == "self" || of == "thread-self") {
			return true
		}
	}
	return false
}

// kernels reports whether a path is in /proc or /dev, which runtimes set up themselves.
func kernels(path string) bool {
	return view.Within(path, "/proc") || view.Within(path, "/dev")
}
