package workshop

import (
	"path"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/doc/decode"
	"sbx/spec"
)

// OldSandbox is the sandbox of a worker's file in the old style: it has paths of its own instead of
// restrict and readonly.
//
//	sandbox:
//	  paths:
//	    input: {root: ./input, mode: ro, suffixes: [.pdf]}
//	    output: {root: ./output, mode: rw}
type OldSandbox struct {
	Paths []OldPath
	Lost  []spec.Warning // settings of the file that sbx cannot enforce

	on string // its place
}

// OldPath is one path of an OldSandbox.
type OldPath struct {
	Name  string
	Root  string
	Write bool
	Pos   doc.Pos // of Root
}

// lostWhy says why sbx does not enforce a field of an old path.
var lostWhy = []struct{ field, why string }{
	{"suffixes", "the kernel knows no rule by a file's suffix"},
	{"max_file_bytes", "limits.file_size bounds what is written, wherever it is"},
	{"write_approval", "sbx asks nobody"},
	{"read_approval", "sbx asks nobody"},
	{"approval", "sbx asks nobody"},
}

// readOldSandbox reads n, which has paths. It reads the paths strictly and reports all other fields as
// not enforced.
func readOldSandbox(d *decode.Decoder, n *doc.Node) *OldSandbox {
	o := &OldSandbox{on: placeOf(d.Name, n.Pos)}
	for i := range n.Members {
		m := &n.Members[i]
		if m.Key != "paths" {
			o.lose(d.Name, m, "")
			continue
		}
		d.Path = "sandbox.paths"
		if !d.Want(m.Value, doc.Object, "an object of paths") {
			return o
		}
		for j := range m.Value.Members {
			d.Path = "sandbox.paths." + doc.Word(doc.Cut(m.Value.Members[j].Key))
			o.Paths = append(o.Paths, readOldPath(d, o, &m.Value.Members[j]))
			if d.Err != nil {
				return o
			}
		}
	}
	d.Path = "sandbox"
	return o
}

func readOldPath(d *decode.Decoder, o *OldSandbox, m *doc.Member) OldPath {
	p := OldPath{Name: m.Key}
	if !d.Want(m.Value, doc.Object, "an object with a root and a mode") {
		return p
	}
	outer := d.Path
	for i := range m.Value.Members {
		f := &m.Value.Members[i]
		d.Path = doc.Join(outer, doc.Word(doc.Cut(f.Key)))
		switch f.Key {
		case "root":
			p.Root, p.Pos = d.String(f.Value, spec.PathRule), f.Value.Pos
		case "mode":
			p.Write = decode.Word(d, f.Value, spec.ParseMountMode, []string{"ro", "rw"}) == spec.MountRW
			if f.Value.Text == "tmpfs" {
				d.Fail(f.Value.Pos, "want one of ro, rw, got \"tmpfs\"")
			}
		default:
			o.lose(d.Name, f, "paths."+doc.Word(doc.Cut(m.Key))+".")
		}
	}
	d.Path = outer
	if p.Root == "" {
		d.FailMeant(m.Value.Pos, "a path needs a root", "", `as in "root: ./`+doc.Cut(m.Key)+`"`)
	}
	return p
}

// lose records a setting of the old style that sbx cannot enforce.
func (o *OldSandbox) lose(name string, m *doc.Member, outer string) {
	text := outer + doc.Word(doc.Cut(m.Key)) + " " + doc.Cut(string(m.Value.AppendJSON(nil, nil))) + " is not enforced"
	for i := range lostWhy {
		if lostWhy[i].field == m.Key {
			text += ": " + lostWhy[i].why
		}
	}
	const many = 100
	if len(o.Lost) < many {
		o.Lost = append(o.Lost, spec.Warning{Field: "sandbox", On: placeOf(name, m.KeyPos), Text: text})
	}
}

func (o *OldSandbox) warning() spec.Warning {
	return spec.Warning{Field: "sandbox", On: o.on, Text: "it names paths of its own, as workers' files did once: sbx check --migrate FILE prints the new form"}
}

// Asked returns the paths on one line: "input ./input (ro), ...".
func (o *OldSandbox) Asked() string {
	var all []string
	for _, p := range o.Paths {
		all = append(all, doc.Word(doc.Cut(p.Name))+" "+doc.Word(doc.Cut(p.Root))+mode(p.Write))
	}
	return strings.Join(all, ", ")
}

// OldSpec returns the spec that replaces a missing workshop's: a single path is its root, several are the
// readable and writable paths. Relative paths count from Source.Dir, which the caller has set; Resolve
// rejects paths that leave it.
func (w *Worker) OldSpec() *spec.SandboxSpec {
	s := &spec.SandboxSpec{Source: w.Source}
	s.Source.Kind = spec.OldWorkerFile
	at := w.Source.Root.Get("sandbox").Pos
	root := &doc.Node{Kind: doc.Object, Pos: at}
	s.Source.Root = root
	if len(w.Old.Paths) == 1 {
		p := &w.Old.Paths[0]
		s.Sandbox = spec.Some(spec.Workshop{Root: spec.Some(p.Root), Readonly: spec.Some(!p.Write)})
		readonly := doc.Truth(!p.Write)
		readonly.Pos = p.Pos
		root.Members = []doc.Member{{Key: "sandbox", KeyPos: at, Value: &doc.Node{Kind: doc.Object, Pos: at, Members: []doc.Member{
			{Key: "root", KeyPos: p.Pos, Value: &doc.Node{Kind: doc.String, Pos: p.Pos, Text: p.Root}},
			{Key: "readonly", KeyPos: p.Pos, Value: readonly},
		}}}}
		return s
	}
	files := systemOnly(at)
	read := files.Value.Members[0].Value
	write := &doc.Node{Kind: doc.List, Pos: at}
	for i := range w.Old.Paths {
		p := &w.Old.Paths[i]
		n := &doc.Node{Kind: doc.String, Pos: p.Pos, Text: p.Root}
		if p.Root[0] != '/' && p.Root[0] != '~' && w.Source.Dir != "" {
			n.Text = path.Join(w.Source.Dir, p.Root)
		}
		if p.Write {
			write.Items = append(write.Items, n)
		} else {
			read.Items = append(read.Items, n)
		}
	}
	files.Value.Members = append(files.Value.Members, doc.Member{Key: "write", KeyPos: at, Value: write})
	root.Members = []doc.Member{files}
	s.Filesystem = spec.Some(spec.Filesystem{Read: spec.Some(append([]string{}, doc.Texts(read)...)), Write: spec.Some(append([]string{}, doc.Texts(write)...))})
	return s
}
