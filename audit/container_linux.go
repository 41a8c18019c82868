package audit

import (
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/doc"
)

// Container describes a container of an engine, and what sbx-oci changed in it.
type Container struct {
	ID           string
	Engine       string // docker, containerd, podman, cri-o; "" if unknown
	Namespace    string // the engine's
	PodNamespace string
	Pod          string
	Name         string
	Image        string
	ImageDigest  string
	Runtime      string // the OCI runtime that made the container
	Bundle       string
	NothingAsked bool // no spec applies
	Edits        []ContainerEdit
	ExitUnknown  string // why no exit status is known
}

// ContainerEdit is a member of config.json that sbx-oci changed, and why.
type ContainerEdit struct{ At, Why string }

func (c *Container) append(w *writer) {
	w.KeyOpen("container", '{')
	w.KeyStr("id", c.ID)
	w.KeyText("engine", c.Engine)
	w.KeyText("namespace", c.Namespace)
	w.KeyText("pod_namespace", c.PodNamespace)
	w.KeyText("pod", c.Pod)
	w.KeyText("name", c.Name)
	w.KeyText("image", c.Image)
	w.KeyText("image_digest", c.ImageDigest)
	w.KeyText("runtime", c.Runtime)
	w.KeyText("bundle", c.Bundle)
	w.KeyFlag("nothing_asked", c.NothingAsked)
	if len(c.Edits) > 0 {
		doc.Objects(&w.Writer, "edits", c.Edits, func(e *ContainerEdit) {
			w.KeyStr("at", e.At)
			w.KeyStr("why", e.Why)
		})
	}
	w.KeyText("exit_unknown", c.ExitUnknown)
	w.Close('}')
}

// EndContainer finishes the record in a run's directory for a container that is gone. why is why
// its exit status is unknown. A finished record is left unchanged.
func EndContainer(dir string, at time.Time, why string) error {
	fd, err := dirs.Open(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer dirs.Close(fd)
	b, err := readRecord(fd, effectiveName, unix.O_NOFOLLOW)
	if err != nil {
		return err
	}
	v, err := Parse(b)
	if err != nil || v.State != StateRunning {
		return err
	}
	n := v.Node.With("state", doc.Str(StateExited)).With("ended_at", doc.Str(at.UTC().Format(timeLayout)))
	n = n.With("container", n.Get("container").With("exit_unknown", doc.Str(why)))
	w := recordWriter(nil)
	w.Open('{')
	for _, m := range n.Members {
		w.Key(m.Key)
		w.B = m.Value.AppendJSON(w.B, nil)
	}
	w.Close('}')
	return replaceAt(fd, effectiveName, launchName, append(w.B, '\n'), false)
}
