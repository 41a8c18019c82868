package main

import (
	"sbx/internal/doc"
	"sbx/spec"
	"sbx/spec/workshop"
)

// migrate prints the new form of a worker's file in the old style on stdout, and what the
// new form cannot say on stderr. It does not change the file.
func (c *call) migrate() int {
	for _, f := range specFlags {
		if c.has(f.name) {
			return c.std.misused("check: --migrate reads no --" + f.name)
		}
	}
	name := c.value("migrate")
	text, err := []byte(nil), error(nil)
	if name == "-" {
		text, err = spec.ReadFD(c.std.in, name)
	} else {
		text, err = spec.Read(name)
	}
	var out string
	var warns []spec.Warning
	if err == nil {
		out, warns, err = workshop.Migrate(name, text)
	}
	if c.has("json") {
		c.std.print(migrateJSON(out, warns, err))
	} else if err != nil {
		c.std.failed(err)
	} else {
		for _, w := range warns {
			c.std.say("warning: " + spec.Shown(w.String()))
		}
		c.std.print(out)
	}
	if err != nil {
		return exitFailed
	}
	return exitOK
}

// migrateJSON returns {ok, text, warnings | problems}.
func migrateJSON(out string, warns []spec.Warning, err error) string {
	if err != nil {
		return checkJSON(nil, err)
	}
	w := &doc.Writer{}
	w.Open('{')
	w.KeyFlag("ok", true)
	w.KeyStr("text", out)
	doc.Objects(w, "warnings", warns, func(warn *spec.Warning) {
		w.KeyStr("field", string(warn.Field))
		w.KeyStr("on", warn.On)
		w.KeyStr("reason", warn.Text)
	})
	w.Close('}')
	return string(w.B) + "\n"
}
