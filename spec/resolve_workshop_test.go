package spec

import (
	"maps"
	"testing"

	"sbx/internal/doc"
)

// Paths that a workshop's file opens lie in its directory, also after links are followed.
func TestResolveWorkshop(t *testing.T) {
	document := func(name, text string, kind SourceKind) *SandboxSpec {
		root, err := doc.ParseYAML(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s, err := DecodeNode(name, root)
		if err != nil {
			t.Fatal(err)
		}
		s.Source.Dir, s.Source.Kind = "/p/", kind
		return s
	}
	file := func(text string) *SandboxSpec { return document("w.yaml", text, WorkshopFile) }
	old := func(text string) *SandboxSpec { return document("o.worker", text, OldWorkerFile) }
	h := tree{}
	maps.Copy(h, host)
	h["/p/inner"], h["/p/outer"] = "-> root", "-> /srv"
	for _, c := range []struct {
		s    *SandboxSpec
		want string
	}{
		{file("sandbox: {root: .}"), "confined visible system private files doors net=host cwd=/p r=/p w=/p"},
		{file("sandbox: {root: root, readonly: true}"), "readonly confined visible system private files doors net=host cwd=/p/root r=/p/root"},
		{file("sandbox: {root: inner}"), "confined visible system private files doors net=host cwd=/p/root r=/p/root w=/p/root"},
		{file("sandbox: {root: /p/root}"), "confined visible system private files doors net=host cwd=/p/root r=/p/root w=/p/root"},
		{file("sandbox: {root: ../p}"), "confined visible system private files doors net=host cwd=/p r=/p w=/p"},
		{file("filesystem: {read: ['@system']}"), "readonly confined visible system private files doors net=host cwd=/p/w"},
		{old("sandbox: {root: root, readonly: true}"), "readonly confined visible system private files doors net=host cwd=/p/root r=/p/root"},
		{old("filesystem: {read: ['@system', /p/root], write: [/p/w/src]}"), "readonly confined visible system private files doors net=host cwd=/p/w r=/p/root w=/p/w/src"},

		{file("sandbox: {root: ..}"), "sandbox.root (w.yaml:1:17): cannot use .. of the workshop: / lies outside of the workshop's directory /p"},
		{file("sandbox: {root: outer}"), "sandbox.root (w.yaml:1:17): cannot use outer of the workshop: /p/outer lies outside of the workshop's directory /p: it is /srv"},
		{file("sandbox: {root: outer/data/../..}"), "sandbox.root (w.yaml:1:17): cannot use outer/data/../.. of the workshop: / lies outside of the workshop's directory /p"},
		{file("sandbox: {root: none}"), "sandbox.root (w.yaml:1:17): cannot use the root none: /p/none does not exist"},
		{file("sandbox: {root: root/file}"), "sandbox.root (w.yaml:1:17): cannot use the root root/file: /p/root/file is not a directory"},
		{old("sandbox: {root: /srv, readonly: true}"), "sandbox.root (o.worker:1:17): cannot use /srv of the workshop: /srv lies outside of the workshop's directory /p"},
		{old("filesystem: {read: ['@system', /p/root], write: [/p/outer/data]}"), "filesystem.write[0] (o.worker:1:50): cannot use /p/outer/data of the workshop: /p/outer/data lies outside of the workshop's directory /p: it is /srv/data"},
		{old("filesystem: {read: ['@system', /p/root, /srv]}"), "filesystem.read[2] (o.worker:1:41): cannot use /srv of the workshop: /srv lies outside of the workshop's directory /p"},
	} {
		in := inputs()
		in.Paths = h
		r, err := Resolve(c.s, in)
		got := summary(r)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
}

// Under a workshop without a sandbox, a worker's restrict has no tree to restrict and loses
// nothing.
func TestRestrictWithoutSandbox(t *testing.T) {
	s := &SandboxSpec{Filesystem: Some(Filesystem{Read: Some([]string{System})}), Restrict: Some("/src"), Source: Source{Kind: WorkshopFile}}
	r, err := Resolve(s, inputs())
	if err != nil || len(r.Read) != 0 || !r.System {
		t.Error(summary(r), err)
	}
}
