package spec

import (
	"strings"

	"sbx/internal/doc"
)

// OldSandbox is the sandbox of a worker's file in the old style: paths of the
// worker's own, where a new file has restrict and readonly.
//
//	sandbox:
//	  paths:
//	    input: {root: ./input, mode: ro, suffixes: [.pdf]}
//	    output: {root: ./output, mode: rw}
type OldSandbox struct {
	Paths []OldPath
	Lost  []Warning // what the file asks and nothing of sbx can hold

	on string // where it stands
}

// OldPath is one path of an OldSandbox.
type OldPath struct {
	Name  string
	Root  string
	Write bool
	Pos   Pos // of Root
}

// lostWhy says why a field of an old path is lost.
var lostWhy = []struct{ field, why string }{
	{"suffixes", "the kernel knows no rule by a file's suffix"},
	{"max_file_bytes", "limits.file_size bounds what is written, wherever it is"},
	{"write_approval", "sbx asks nobody"},
	{"read_approval", "sbx asks nobody"},
	{"approval", "sbx asks nobody"},
}

// oldSandbox reads n, which has paths. Its paths are read strictly; what else it
// says is lost and said to be.
func (d *decoder) oldSandbox(n *Node) *OldSandbox {
	o := &OldSandbox{on: placeOf(d.name, n.Pos)}
	for i := range n.Members {
		m := &n.Members[i]
		if m.Key != "paths" {
			o.lose(d.name, m, "")
			continue
		}
		d.path = "sandbox.paths"
		if !d.want(m.Value, Object, "an object of paths") {
			return o
		}
		for j := range m.Value.Members {
			d.path = "sandbox.paths." + odd(cut(m.Value.Members[j].Key))
			o.Paths = append(o.Paths, d.oldPath(o, &m.Value.Members[j]))
			if d.err != nil {
				return o
			}
		}
	}
	d.path = "sandbox"
	return o
}

func (d *decoder) oldPath(o *OldSandbox, m *Member) OldPath {
	p := OldPath{Name: m.Key}
	if !d.want(m.Value, Object, "an object with a root and a mode") {
		return p
	}
	outer := d.path
	for i := range m.Value.Members {
		f := &m.Value.Members[i]
		d.path = doc.Join(outer, odd(cut(f.Key)))
		switch f.Key {
		case "root":
			p.Root, p.Pos = d.string(f.Value, pathRule), f.Value.Pos
		case "mode":
			p.Write = word(d, f.Value, ParseMountMode, []string{"ro", "rw"}).Value == MountRW
			if f.Value.Text == "tmpfs" {
				d.fail(f.Value.Pos, "want one of ro, rw, got \"tmpfs\"")
			}
		default:
			o.lose(d.name, f, "paths."+odd(cut(m.Key))+".")
		}
	}
	d.path = outer
	if p.Root == "" {
		d.failMeant(m.Value.Pos, "a path needs a root", "", `as in "root: ./`+cut(m.Key)+`"`)
	}
	return p
}

// lose notes what of the old style sbx cannot hold.
func (o *OldSandbox) lose(name string, m *Member, outer string) {
	text := outer + odd(cut(m.Key)) + " " + cut(string(m.Value.AppendJSON(nil, nil))) + " is not enforced"
	for i := range lostWhy {
		if lostWhy[i].field == m.Key {
			text += ": " + lostWhy[i].why
		}
	}
	const many = 100
	if len(o.Lost) < many {
		o.Lost = append(o.Lost, Warning{Field: "sandbox", On: placeOf(name, m.KeyPos), Text: text})
	}
}

func (o *OldSandbox) warning() Warning {
	return Warning{Field: "sandbox", On: o.on, Text: "it names paths of its own, as workers' files did once: sbx check --migrate FILE prints the new form"}
}

// Asked says in one line what the paths are: "input ./input (ro), ...".
func (o *OldSandbox) Asked() string {
	var all []string
	for _, p := range o.Paths {
		all = append(all, odd(cut(p.Name))+" "+odd(cut(p.Root))+mode(p.Write))
	}
	return strings.Join(all, ", ")
}

// OldSpec is what stands in for a workshop's spec where there is none: a single
// path is its root, several are what may be read and written. Relative ones
// count from Source.Dir, which the caller has set, and Resolve refuses one that
// leaves it.
func (w *Worker) OldSpec() *SandboxSpec {
	s := &SandboxSpec{Source: w.Source}
	s.Source.Kind = OldWorkerFile
	at := w.Source.Root.Get("sandbox").Pos
	root := &Node{Kind: Object, Pos: at}
	s.Source.Root = root
	if len(w.Old.Paths) == 1 {
		p := &w.Old.Paths[0]
		s.Sandbox = Some(Workshop{Root: Some(p.Root), Readonly: Some(!p.Write)})
		readonly := &Node{Kind: Bool, Pos: p.Pos, Text: "false"}
		if !p.Write {
			readonly.Text = "true"
		}
		root.Members = []Member{{Key: "sandbox", KeyPos: at, Value: &Node{Kind: Object, Pos: at, Members: []Member{
			{Key: "root", KeyPos: p.Pos, Value: &Node{Kind: String, Pos: p.Pos, Text: p.Root}},
			{Key: "readonly", KeyPos: p.Pos, Value: readonly},
		}}}}
		return s
	}
	files := systemOnly(at)
	read := files.Value.Members[0].Value
	write := &Node{Kind: List, Pos: at}
	for i := range w.Old.Paths {
		p := &w.Old.Paths[i]
		n := &Node{Kind: String, Pos: p.Pos, Text: p.Root}
		if p.Root[0] != '/' && p.Root[0] != '~' && w.Source.Dir != "" {
			n.Text = clean(inFolder(w.Source.Dir, p.Root))
		}
		if p.Write {
			write.Items = append(write.Items, n)
		} else {
			read.Items = append(read.Items, n)
		}
	}
	files.Value.Members = append(files.Value.Members, Member{Key: "write", KeyPos: at, Value: write})
	root.Members = []Member{files}
	s.Filesystem = Some(Filesystem{Read: Some(append([]string{}, doc.Texts(read)...)), Write: Some(append([]string{}, doc.Texts(write)...))})
	return s
}
