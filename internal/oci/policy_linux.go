package oci

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"sbx/spec"
)

// The container annotations that add a spec: the document itself, and the path of a file.
const (
	AnnotationSpec = "dev.sbx.spec"
	AnnotationFile = "dev.sbx.spec-file"
)

// dirsFile is a file in the policy directory. It lists, one per line, the directories in
// which AnnotationFile may name a file.
const dirsFile = "spec-folders"

// Documents returns the specs that apply to a container, each of which narrows the one before:
// the node's, those of --sbx-spec, those of the container's annotations.
func Documents(o *Options, annotations map[string]string) (docs []*spec.SandboxSpec, err error) {
	files, err := policyFiles(o)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		d, err := readSpec(file, file)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	if named, ok := annotations[AnnotationFile]; ok {
		file, err := allowedFile(o.Policy, named)
		if err != nil {
			return nil, err
		}
		d, err := readSpec(file, named)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	if inline, ok := annotations[AnnotationSpec]; ok {
		d, err := spec.Decode(AnnotationSpec, []byte(inline))
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

func isSpec(name string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml"}, strings.ToLower(filepath.Ext(name)))
}

// policyFiles returns the spec files of the policy directory sorted by name, then the class's,
// then those of --sbx-spec.
func policyFiles(o *Options) (files []string, err error) {
	entries, err := os.ReadDir(o.Policy)
	if err != nil && !(os.IsNotExist(err) && o.Policy == PolicyDir) {
		return nil, unread(o.Policy, err)
	}
	for _, e := range entries {
		if isSpec(e.Name()) {
			files = append(files, o.Policy+"/"+e.Name())
		}
	}
	sort.Strings(files)
	if o.Class != "" {
		dir := o.Policy + "/classes"
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, unread(dir, err)
		}
		entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool {
			return !isSpec(e.Name()) || strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())) != o.Class
		})
		if len(entries) > 1 {
			return nil, &spec.Problem{On: dir, Do: "find the spec of the class " + o.Class, Why: "both " + entries[0].Name() + " and " + entries[1].Name() + " are there", Help: "remove one"}
		}
		if len(entries) == 0 {
			return nil, &spec.Problem{On: dir, Do: "find the spec of the class " + o.Class, Why: spec.NoEntry.Error(), Help: "make " + dir + "/" + o.Class + ".yaml"}
		}
		files = append(files, dir+"/"+entries[0].Name())
	}
	return append(files, o.Specs...), nil
}

func unread(path string, err error) error {
	return &spec.Problem{On: path, Do: "read the specs of this node", Why: err.Error()}
}

func readSpec(file, name string) (*spec.SandboxSpec, error) {
	if st, err := os.Stat(file); err == nil && !st.Mode().IsRegular() { // a FIFO would block
		return nil, &spec.Problem{On: name, Do: "read the spec", Why: "it is no regular file"}
	}
	b, err := spec.Read(file)
	if err != nil {
		return nil, err
	}
	return spec.Decode(name, b)
}

// allowedFile resolves the symlinks of the file that a container's annotation names, and
// returns it if it lies in a directory that dirsFile lists.
func allowedFile(policy, named string) (string, error) {
	refuse := func(why, help string) (string, error) {
		return "", &spec.Problem{On: AnnotationFile, Do: "read " + spec.Word(named), Why: why, Help: help}
	}
	help := "the administrator of this node names directories in " + policy + "/" + dirsFile + ", one a line"
	b, err := os.ReadFile(policy + "/" + dirsFile)
	if err != nil {
		return refuse("this node's policy names no directory of specs", help)
	}
	if !filepath.IsAbs(named) {
		return refuse("it is a relative path", "give an absolute one")
	}
	real, err := filepath.EvalSymlinks(named)
	for line := range strings.Lines(string(b)) {
		dir := strings.TrimSpace(line)
		if !filepath.IsAbs(dir) {
			continue // empty, or a comment
		}
		if dir, dirErr := filepath.EvalSymlinks(dir); dirErr == nil && err == nil && strings.HasPrefix(real, dir+"/") {
			return real, nil
		}
	}
	// The error does not tell the container whether the file exists.
	return refuse("it is not in a directory of specs that this node's policy names", help)
}
