package profile

import (
	"slices"
	"strings"

	"sbx/spec"
)

// covered tells whether a tool lies within what parent's patterns allow. Rules
// of Bash that may be several commands are covered by the same or by the whole
// tool alone: what one of their commands does is no matter of how they begin.
func covered(parent []string, tool string) bool {
	t, ok := spec.ParseTool(tool)
	several := ok && t.Names("Bash") && strings.ContainsAny(t.Rule, ",;&|<>$`()\n")
	return ok && slices.ContainsFunc(parent, func(p string) bool {
		has, ok := spec.ParseTool(p)
		return ok && has.Covers(t) && (!several || has.Rule == "" || has.Rule == t.Rule)
	})
}

// bare is a tool's name, as the table of tools has it.
func bare(tool string) string {
	name, _, _ := strings.Cut(tool, "(")
	return spec.ClaudeTool(spec.Claude, name)
}
