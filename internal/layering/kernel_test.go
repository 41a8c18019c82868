package layering

import (
	"go/ast"
	"strings"
	"testing"
)

// harmless are functions of syscall and x/sys/unix that call no kernel, and
// types that are converted to.
var harmless = map[string]bool{
	"Errno": true, "Signal": true, "WaitStatus": true, "Rlimit": true,
	"ByteSliceToString": true, "BytePtrFromString": true, "ByteSliceFromString": true, "BytePtrToString": true,
	"Major": true, "Minor": true, "Mkdev": true, "ErrnoName": true, "SignalName": true, "SignalNum": true,
	"CmsgLen": true, "CmsgSpace": true, "UnixRights": true, "NsecToTimespec": true, "NsecToTimeval": true,
	"TimespecToNsec": true, "TimevalToNsec": true,
}

// kernelPackages are the ways to the kernel below package os.
var kernelPackages = map[string]bool{"syscall": true, "golang.org/x/sys/unix": true, "internal/runtime/syscall": true}

func TestUnsafeStandsInItsFiles(t *testing.T) {
	for _, s := range sources(t) {
		for _, im := range s.imports() {
			if im == "unsafe" && !strings.HasSuffix(s.rel, "_unsafe.go") {
				t.Errorf("%s imports unsafe; only *_unsafe.go may", s.rel)
			}
		}
	}
}

func TestKernelIsCalledInItsFiles(t *testing.T) {
	for _, s := range sources(t) {
		if strings.HasSuffix(s.rel, "_unsafe.go") || strings.HasSuffix(s.rel, "_linux.go") {
			continue
		}
		for _, call := range kernelCalls(s.file) {
			t.Errorf("%s calls the kernel; only *_linux.go and *_unsafe.go may", s.at(call))
		}
	}
}

// kernelCalls lists the calls of f into a kernel package.
func kernelCalls(f *ast.File) []ast.Node {
	names := map[string]bool{}
	for _, im := range f.Imports {
		path := strings.Trim(im.Path.Value, `"`)
		if !kernelPackages[path] {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if im.Name != nil {
			name = im.Name.Name
		}
		names[name] = true
	}
	var found []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && names[x.Name] && !harmless[sel.Sel.Name] {
			found = append(found, call)
		}
		return true
	})
	return found
}

func TestNothingRunsBeforeMain(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: an init function; call it from main instead", s.at(f))
			}
		}
	}
}
