package main

import (
	"strings"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

// documentManual returns the page of section 5 about the spec or the record; "" for
// another name.
func documentManual(name string) string {
	var schema, example string
	switch name {
	case "spec":
		schema, example = spec.Schema(), exampleSpec
	case "record":
		schema, example = audit.Schema(), "sbx exec --effective run.json -- make test\nsbx show run.json\njq .violations run.json"
	default:
		return ""
	}
	root, err := doc.ParseJSON(name, []byte(schema))
	if err != nil {
		return ""
	}
	_, exit := table()[0].splitText()
	var b strings.Builder
	b.WriteString(".TH SBX\\-" + strings.ToUpper(name) + " 5\n.SH NAME\nsbx\\-" + name + " \\- " + doc.Roff(member(root, "title")) +
		"\n.SH DESCRIPTION\n" + doc.Roff(member(root, "description")) + "\n.SH KEYS\n")
	writeKeys(&b, root, "")
	b.WriteString(".SH EXIT STATUS\nOf sbx exec: " + doc.Roff(exit) + "\n.SH EXAMPLES\n.EX\n" + doc.Roff(example) + "\n.EE\n" + seeAlso)
	return b.String()
}

const exampleSpec = `access_mode: workspace-write
filesystem:
  hide: [~/notes]
network: {allow: ["@npm"]}
max_commands: 500
limits: {timeout: 10m}`

// writeKeys writes the properties of an object's schema, and those of the objects in it.
func writeKeys(b *strings.Builder, schema *doc.Node, above string) {
	properties := schema.Get("properties")
	if properties == nil {
		return
	}
	for _, p := range properties.Members {
		b.WriteString(".TP\n.B " + doc.Roff(above+p.Key) + "\n")
		if kind := kindOf(p.Value); kind != "" {
			b.WriteString("(" + doc.Roff(kind) + ")\n")
		}
		if says := member(p.Value, "description"); says != "" {
			b.WriteString(doc.Roff(says) + "\n")
		}
		writeKeys(b, p.Value, above+p.Key+".")
		if items := p.Value.Get("items"); items != nil {
			writeKeys(b, items, above+p.Key+"[].")
		}
	}
}

// kindOf returns what a schema requires: the words of an enumeration, or a type.
func kindOf(schema *doc.Node) string {
	if words := schema.Get("enum"); words != nil {
		var list []string
		for _, w := range words.Items {
			list = append(list, w.Text)
		}
		return strings.Join(list, ", ")
	}
	kind := member(schema, "type")
	if items := schema.Get("items"); items != nil && kind == "array" {
		if of := kindOf(items); of != "" {
			return "list of " + of
		}
		return "list"
	}
	return kind
}

func member(n *doc.Node, key string) string {
	if v := n.Get(key); v != nil {
		return v.Text
	}
	return ""
}
