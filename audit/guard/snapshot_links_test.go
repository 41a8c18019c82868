package guard

import (
	"os"
	"testing"
	"time"

	"sbx/wrap"
)

// TestLinksOfTheLaunchsTick: a protected link that was created in the same tick of the clock as the
// launch stays. Another link in its place does not, whatever its times are.
func TestLinksOfTheLaunchsTick(t *testing.T) {
	g := newGround(t)
	names := []string{".envrc", ".vscode", ".mcp.json"}
	g.symlink(names...)
	for _, name := range names {
		g.w.Protected = append(g.w.Protected, wrap.Protected{Path: g.tree + "/" + name, Link: true})
		g.known = append(g.known, g.tree+"/"+name)
	}
	g.launch()
	g.sweep.Held.at.Sec -= 3600 // all links now have times at or after the launch
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
	replace(".mcp.json", "/elsewhere") // another link with the same target
	g.swept(".vscode", ".mcp.json")
	if _, err := os.Lstat(g.tree + "/.envrc"); err != nil {
		t.Error(err)
	}
}
