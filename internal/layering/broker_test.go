package layering

import (
	"go/ast"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestOneFileMakesVerdicts checks that the broker has one way to execute: what executes takes a
// Verdict, and only dispatch.go makes one that allows, or calls what executes.
func TestOneFileMakesVerdicts(t *testing.T) {
	made, called := 0, 0
	for _, s := range sources(t) {
		if s.dir != "internal/broker" {
			continue
		}
		dispatch := s.rel == "internal/broker/dispatch.go"
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == "Verdict" {
					if made++; !dispatch && s.rel != "internal/broker/check.go" { // which runs nothing
						t.Errorf("%s: a Verdict is made", s.at(n))
					}
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "carryOut" {
					if called++; !dispatch {
						t.Errorf("%s: a call is carried out", s.at(n))
					}
				}
				if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "new" && len(n.Args) == 1 {
					if id, ok := n.Args[0].(*ast.Ident); ok && id.Name == "Verdict" {
						t.Errorf("%s: a Verdict is made", s.at(n))
					}
				}
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					if f, ok := left.(*ast.SelectorExpr); ok && f.Sel.Name == "allowed" && !dispatch {
						t.Errorf("%s: a Verdict is changed", s.at(n))
					}
				}
			}
			return true
		})
	}
	if made < 2 || called != 1 {
		t.Errorf("%d Verdicts are made and %d calls carried out: the test looks at the wrong names", made, called)
	}
}

// maxBrokerDeps bounds the number of other modules' packages behind cmd/sbx-broker, for whose start
// each run with a broker waits.
const maxBrokerDeps = 231

func TestTheBrokersStartIsAffordable(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-tags", "urfave_cli_no_docs", "./cmd/sbx-broker")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if n := len(slices.DeleteFunc(slices.Clone(deps), isOwn)); n > maxBrokerDeps {
		t.Errorf("cmd/sbx-broker depends on %d packages of others, more than %d", n, maxBrokerDeps)
	}
	for _, d := range deps {
		if strings.HasPrefix(d, "github.com/santhosh-tekuri/") || strings.HasPrefix(d, "modernc.org/") {
			t.Errorf("cmd/sbx-broker depends on %s, whose start takes milliseconds", d)
		}
	}
}
