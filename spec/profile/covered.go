package profile

import (
	"strings"

	"sbx/spec"
)

// covered tells whether a tool lies within what parent's patterns allow: it is
// there itself, its name is there without a rule, or a rule that ends in ":*"
// begins it. A rule that may be several commands is covered by no beginning.
func covered(parent []string, tool string) bool {
	name, rule := parts(tool)
	for _, p := range parent {
		pname, prule := parts(p)
		if pname != name {
			continue
		}
		if prule == "" || prule == rule {
			return true
		}
		prefix, open := strings.CutSuffix(prule, ":*")
		inner, _ := strings.CutSuffix(rule, ":*")
		if open && !strings.ContainsAny(inner, ",;&|<>$`*()\n") && (inner == prefix || strings.HasPrefix(inner, prefix+" ")) {
			return true
		}
	}
	return false
}

// parts are a tool's name, as the table of tools has it, and its rule.
func parts(tool string) (name, rule string) {
	name, rule, _ = strings.Cut(tool, "(")
	name, _ = spec.ClaudeTool(spec.Claude, name)
	return name, strings.TrimSuffix(rule, ")")
}
