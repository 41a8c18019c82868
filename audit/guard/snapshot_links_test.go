package guard

import (
	"os"
	"testing"
	"time"

	"sbx/wrap"
)

// A protected link that was made in the same tick of the clock as the launch stays;
// another in its place does not, whatever its times.
func TestLinksOfTheLaunchsTick(t *testing.T) {
	g := newGround(t)
	names := []string{".envrc", ".vscode", ".mcp.json"}
	g.symlink(names...)
	for _, name := range names {
		g.w.Protected = append(g.w.Protected, wrap.Protected{Path: g.tree + "/" + name, Link: true})
		g.known = append(g.known, g.tree+"/"+name)
	}
	g.launch()
	g.sweep.Held.at.Sec -= 3600 // all links have times of the launch or after it
	time.Sleep(20 * time.Millisecond)
	replace := func(name, to string) {
		if err := os.Remove(g.tree + "/" + name); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, g.tree+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	replace(".vscode", "elsewhere")
	replace(".mcp.json", "/elsewhere") // leads to the same, and is not the same
	g.swept(".vscode", ".mcp.json")
	if _, err := os.Lstat(g.tree + "/.envrc"); err != nil {
		t.Error(err)
	}
}
