package layering

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

const (
	maxFile     = 300
	maxFunction = 100
	maxMethods  = 40 // of a type: each may change all that the type knows
	maxFields   = 12 // of a type with methods that hides any of them
)

// wider are the types with more fields, each with its number, which only falls.
var wider = map[string]int{
	"..Cmd":                         17, // shaped as exec.Cmd
	"audit/guard.guarded":           14, // what is known of one path
	"audit/agent.claudeLine":        22, // a line of a stream
	"audit/agent.tally":             24, // a number a kind
	"audit/listen.pendingConnect":   14, // one call
	"audit/listen.entry":            15, // where one path leads
	"bench.job":                     19, // a row of a table
	"internal/broker/document.Tool": 20, // a part of a document
	"spec.Resolved":                 49, // a document
	"spec/agent.adapter":            22, // a row of a table
	"wrap.Parent":                   25, // what an sbx outside says
	"wrap.Plan":                     33, // what is done, as data
}

// tables are files that may be longer: data, a row a thing.
var tables = map[string]string{"wrap/defaults/secrets_table.go": "the default secrets"}

func TestFilesAndFunctionsStaySmall(t *testing.T) {
	all := sources(t)
	for _, s := range all {
		if s.lines > maxFile && tables[s.rel] == "" {
			t.Errorf("%s has %d lines, more than %d", s.rel, s.lines, maxFile)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
			if n > maxFunction {
				t.Errorf("%s: %s has %d lines, more than %d", s.at(f), f.Name.Name, n, maxFunction)
			}
		}
	}
	for name := range tables {
		if !exists(all, name) {
			t.Errorf("tables names %s, which is not there", name)
		}
	}
}

func TestTypesHaveFewMethods(t *testing.T) {
	few(t, methodsOf(sources(t)), maxMethods, nil, "methods")
}

// TestTypesHaveFewFields passes over data: what has no methods, or hides nothing.
func TestTypesHaveFewFields(t *testing.T) {
	all := sources(t)
	methods, fields := methodsOf(all), map[string]int{}
	for _, s := range all {
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			of, ok := spec.Type.(*ast.StructType)
			if name := s.dir + "." + spec.Name.Name; ok && methods[name] > 0 {
				if n, hides := fieldsOf(of); hides {
					fields[name] = n
				}
			}
			return true
		})
	}
	few(t, fields, maxFields, wider, "fields")
}

func few(t *testing.T, have map[string]int, most int, exceptions map[string]int, what string) {
	t.Helper()
	for of, n := range have {
		if n > max(most, exceptions[of]) {
			t.Errorf("%s has %d %s, more than %d", of, n, what, max(most, exceptions[of]))
		}
	}
	for of, n := range exceptions {
		if have[of] < n {
			t.Errorf("%s has %d %s: the table of exceptions says %d", of, have[of], what, n)
		}
	}
}

func methodsOf(all []source) map[string]int {
	methods := map[string]int{}
	for _, s := range all {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			of := f.Recv.List[0].Type
			if pointer, ok := of.(*ast.StarExpr); ok {
				of = pointer.X
			}
			if name, ok := of.(*ast.Ident); ok {
				methods[s.dir+"."+name.Name]++
			}
		}
	}
	return methods
}

// fieldsOf counts the fields, an embedded type as one, and tells whether any is hidden.
func fieldsOf(of *ast.StructType) (n int, hides bool) {
	for _, f := range of.Fields.List {
		n += max(1, len(f.Names))
		for _, name := range f.Names {
			hides = hides || !name.IsExported()
		}
	}
	return n, hides
}

func exists(all []source, rel string) bool {
	for _, s := range all {
		if s.rel == rel {
			return true
		}
	}
	return false
}

func TestEveryPackageTellsWhatItIs(t *testing.T) {
	for dir, files := range packages(sources(t)) {
		if files[0].file.Name.Name == "main" {
			if !anyDoc(files) {
				t.Errorf("%s: the program has no package comment", dir)
			}
			continue
		}
		if !exists(files, path.Join(dir, "doc.go")) {
			t.Errorf("%s has no doc.go", dir)
		} else if !anyDoc(files) {
			t.Errorf("%s/doc.go has no package comment", dir)
		}
	}
}

func anyDoc(files []source) bool {
	for _, s := range files {
		if s.file.Doc.Text() != "" {
			return true
		}
	}
	return false
}

// known are methods whose meaning their interface gives.
var known = map[string]bool{
	"String": true, "Error": true, "Unwrap": true, "Is": true, "Close": true,
	"MarshalText": true, "UnmarshalText": true, "MarshalJSON": true, "UnmarshalJSON": true,
	"Len": true, "Less": true, "Swap": true,
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if s.file.Name.Name == "main" {
			continue
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) && d.Doc.Text() == "" && (d.Recv == nil || !known[d.Name.Name]) {
					t.Errorf("%s: %s has no comment", s.at(d), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, name := range undocumented(d) {
					t.Errorf("%s: %s has no comment", s.at(name), name.Name)
				}
			}
		}
	}
}

func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// undocumented lists the exported names of a declaration that neither it, nor
// its group, nor the end of its line explains.
func undocumented(d *ast.GenDecl) []*ast.Ident {
	if d.Tok == token.IMPORT || d.Tok != token.TYPE && d.Doc.Text() != "" {
		return nil
	}
	var list []*ast.Ident
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			grouped := d.Lparen.IsValid()
			if s.Name.IsExported() && s.Doc.Text() == "" && s.Comment.Text() == "" && (grouped || d.Doc.Text() == "") {
				list = append(list, s.Name)
			}
		case *ast.ValueSpec:
			for _, n := range s.Names {
				if n.IsExported() && s.Doc.Text() == "" && s.Comment.Text() == "" {
					list = append(list, n)
				}
			}
		}
	}
	return list
}

func TestNoPackageIsCalledUtil(t *testing.T) {
	for dir := range packages(sources(t)) {
		switch name := dir[strings.LastIndex(dir, "/")+1:]; name {
		case "util", "utils", "common", "helpers", "misc":
			t.Errorf("%s: a package is named for what it knows", dir)
		}
	}
}
