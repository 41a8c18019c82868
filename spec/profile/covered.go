package profile

import (
	"slices"
	"strings"

	"sbx/spec"
)

// covered reports whether the parent's patterns allow a tool. A Bash rule that may stand for
// several commands is covered only by the same rule or by the whole tool: the rule's first word
// does not say what its other commands do.
func covered(parent []string, tool string) bool {
	t, ok := spec.ParseTool(tool)
	several := ok && t.Names("Bash") && strings.ContainsAny(t.Rule, ",;&|<>$`()\n")
	return ok && slices.ContainsFunc(parent, func(p string) bool {
		has, ok := spec.ParseTool(p)
		return ok && has.Covers(t) && (!several || has.Rule == "" || has.Rule == t.Rule)
	})
}

// bare returns a tool's name without its pattern, as the table of tools has it.
func bare(tool string) string {
	name, _, _ := strings.Cut(tool, "(")
	return spec.ClaudeTool(spec.Claude, name)
}
