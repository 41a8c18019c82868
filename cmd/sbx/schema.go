package main

import (
	"strings"

	"sbx/audit"
	"sbx/spec"
)

// runSchema implements `sbx schema`.
func runSchema(c *call) int {
	which := "spec"
	if len(c.rest) > 0 {
		which = c.rest[0]
	}
	switch {
	case len(c.rest) > 1:
	case which == "spec":
		c.std.print(spec.Schema())
		return exitOK
	case which == "record":
		c.std.print(audit.Schema())
		return exitOK
	}
	return c.std.misused("schema: want spec or record, not " + spec.Word(strings.Join(c.rest, " ")))
}
