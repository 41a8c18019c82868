package layering

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// maxAPI bounds the number of exported names on which others may rely, methods included.
const maxAPI = 120

// handedOn are names of the API whose fields and methods do not belong to it.
var handedOn = map[string]bool{"sbx/spec.Inputs": true, "sbx/spec.HostPaths": true, "sbx/spec.Lists": true,
	"sbx/spec.Resolved": true, "sbx/spec.Source": true, "sbx/spec.Node": true, "sbx/wrap.Host": true}

// exported has the facts about an exported name of a package.
type exported struct {
	methods  []string
	mentions []string // exported names of the module in its declaration, as sbx/spec.Opt
}

// TestTheAPIIsWhatItsPageSays compares docs/reference/go-api.md with the code: each name exists,
// the root package has no other, and none mentions a type that is not on the page.
func TestTheAPIIsWhatItsPageSays(t *testing.T) {
	page := map[string]bool{}
	row := regexp.MustCompile("(?m)^\\| `(sbx[a-z/]*)`[^|]*\\|([^|]*)\\|$")
	for _, m := range row.FindAllStringSubmatch(read(t, "docs/reference/go-api.md"), -1) {
		for _, name := range strings.Fields(strings.ReplaceAll(m[2], "`", "")) {
			page[m[1]+"."+name] = true
		}
	}
	names := map[string]*exported{}
	for _, s := range sources(t) {
		s.exports(names)
	}
	count := len(page)
	for name := range page {
		e := names[name]
		if e == nil {
			t.Errorf("docs/reference/go-api.md lists %s, which is not there", name)
			continue
		}
		if handedOn[name] {
			continue
		}
		count += len(e.methods)
		for _, m := range e.mentions {
			if alias := strings.HasPrefix(m, "sbx/internal/"); !page[m] && names[m] != nil && !alias {
				t.Errorf("%s is API and mentions %s, which docs/reference/go-api.md does not list", name, m)
			}
		}
	}
	for name := range names {
		if strings.HasPrefix(name, "sbx.") && !page[name] {
			t.Errorf("docs/reference/go-api.md does not list %s", name)
		}
	}
	for name := range handedOn {
		if !page[name] {
			t.Errorf("%s is handed on and not listed", name)
		}
	}
	t.Logf("%d names, %d with their methods", len(page), count)
	if count > maxAPI {
		t.Errorf("the API has %d exported names, more than %d", count, maxAPI)
	}
	if len(page) < 50 {
		t.Errorf("docs/reference/go-api.md lists %d names: its table was not read", len(page))
	}
}

// TestRoomsThatAreNoAPISaySo checks the package comments of packages that others could import but
// should not.
func TestRoomsThatAreNoAPISaySo(t *testing.T) {
	for _, dir := range []string{"audit", "dispatch", "landlock", "seccomp", "spec", "wrap", "wrap/defaults", "wrap/host", "wrap/launch", "wrap/outer"} {
		if text := read(t, dir+"/doc.go"); !strings.Contains(text, "docs/reference/go-api.md") || !strings.Contains(text, " API") {
			t.Errorf("%s/doc.go does not say what of it is API, by docs/reference/go-api.md", dir)
		}
	}
}

// exports adds the exported names of a file.
func (s source) exports(names map[string]*exported) {
	at := func(name string) *exported {
		key := path.Join("sbx", s.dir) + "." + name
		if names[key] == nil {
			names[key] = &exported{}
		}
		return names[key]
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch {
			case !d.Name.IsExported():
			case d.Recv == nil:
				at(d.Name.Name).mentions = append(at(d.Name.Name).mentions, s.mentions(d.Type)...)
			default:
				if of := receiver(d); ast.IsExported(of) {
					e := at(of)
					e.methods = append(e.methods, d.Name.Name)
					e.mentions = append(e.mentions, s.mentions(d.Type)...)
				}
			}
		case *ast.GenDecl:
			for _, sp := range d.Specs {
				switch sp := sp.(type) {
				case *ast.TypeSpec:
					if sp.Name.IsExported() {
						e := at(sp.Name.Name)
						e.mentions = append(e.mentions, s.mentions(sp.Type)...)
						if i, ok := sp.Type.(*ast.InterfaceType); ok {
							for _, m := range i.Methods.List {
								e.methods = append(e.methods, m.Names[0].Name)
							}
						}
					}
				case *ast.ValueSpec:
					for _, n := range sp.Names {
						if n.IsExported() {
							at(n.Name)
						}
					}
				}
			}
		}
	}
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) (name string) {
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// mentions lists the exported names of the module in a type, except those in its unexported fields.
func (s source) mentions(typ ast.Node) (list []string) {
	ast.Inspect(typ, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			for _, f := range n.Fields.List {
				if len(f.Names) == 0 || f.Names[0].IsExported() {
					list = append(list, s.mentions(f.Type)...)
				}
			}
			return false
		case *ast.Field: // a parameter or a method, whose name is not a type's
			list = append(list, s.mentions(n.Type)...)
			return false
		case *ast.SelectorExpr:
			for _, im := range s.imports() {
				if strings.HasPrefix(im, "sbx/") && path.Base(im) == n.X.(*ast.Ident).Name {
					list = append(list, im+"."+n.Sel.Name)
				}
			}
			return false
		case *ast.Ident:
			if n.IsExported() {
				list = append(list, path.Join("sbx", s.dir)+"."+n.Name)
			}
		}
		return true
	})
	return list
}
