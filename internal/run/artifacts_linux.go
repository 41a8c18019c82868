package run

import (
	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
	"sbx/spec"
)

// noteArtifacts records the files that a job left in /output.
func (x *journal) noteArtifacts() {
	j := x.Resolved.Job
	if j == nil || j.Output.Real == "" {
		return
	}
	list, omitted, err := artifactsOf(j.Output.Real)
	if err == nil {
		x.record.Artifacts, x.record.ArtifactsOmitted = spec.Some(list), omitted
	} else {
		x.Voice.Say("cannot list " + spec.Word(j.Output.Real) + ": " + err.Error())
	}
}

// artifactsOf lists the files in a job's output directory.
func artifactsOf(dir string) ([]audit.Artifact, int, error) {
	fd, err := dirs.OpenReal(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, 0, err
	}
	defer unix.Close(fd)
	return audit.Artifacts(fd)
}
