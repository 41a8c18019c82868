package main

import (
	"cmp"
	"errors"
	"strconv"

	"sbx/spec"
	"sbx/wrap/outer"
)

// badDirs are the directories of an invocation that do not exist on this host: then the
// invocation is invalid, not the spec.
type badDirs struct{ spec.Problems }

func (e badDirs) Unwrap() error { return e.Problems }

// wrapStatus returns the exit status for a command that could not be wrapped.
func wrapStatus(err error) int {
	if bad := (badDirs{}); errors.As(err, &bad) {
		return exitUsage
	}
	return exitFailed
}

// checkDirs rejects mounts of paths that are not directories. Otherwise the error would
// name fields of a document that the caller never wrote, or there would be none.
func (c *commandLine) checkDirs(mounts []outer.DirMount, paths spec.Paths) error {
	if c.value("wrapper") == "none" { // this wrapper ignores the mounts
		return nil
	}
	var bad badDirs
	for i, m := range mounts {
		real, err := spec.Real(m.HostPath, paths)
		if err == nil {
			var info spec.Info
			if info, err = paths.Lstat(real); err == nil && !info.IsDir {
				err = errors.New("it is not a directory, and the one kind is dir")
			}
		}
		if err != nil {
			bad.Problems = append(bad.Problems, &spec.Problem{Field: spec.Field("mounts[" + strconv.Itoa(i) + "].hostPath"),
				On: m.HostPath, Do: "mount it", Why: err.Error(), Help: "name a directory that is there"})
		}
	}
	if len(bad.Problems) == 0 {
		return nil
	}
	return bad
}

// byItsFields renames the field of an error to the invocation's name for its working
// directory.
func byItsFields(err error, inv *outer.Invocation) error {
	if err == nil || inv.Cwd == "" {
		return err
	}
	all := spec.AsProblems(err)
	if len(all) != 1 || all[0].Field != "working_dir" || all[0].On != "" && all[0].On != defaultName {
		return err
	}
	help := cmp.Or(all[0].Help, "name a directory that is there")
	return badDirs{spec.Problems{{Field: "cwd", On: inv.Cwd, Do: "start in it", Why: all[0].Why, Help: help}}}
}

// resolveDefault resolves an invocation's directories without any document.
func (c *documentSet) resolveDefault(inv *outer.Invocation, cwd string) (r *spec.Resolved, left []outer.Lack, err error) {
	doc := &spec.SandboxSpec{Source: spec.Source{Name: defaultName}}
	if c.value("wrapper") != "none" {
		at := *inv
		at.Cwd = cwd
		doc, left = outer.DefaultSpec(&at)
	}
	if c.has("allow") {
		doc.Network = spec.Opt[spec.Network]{}
	}
	docs, err := c.amended([]*spec.SandboxSpec{doc})
	if err == nil {
		r, err = c.resolve(docs)
	}
	return r, left, err
}
