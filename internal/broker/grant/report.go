package grant

import (
	"strings"

	"sbx/internal/broker/wire"
	"sbx/internal/doc"
	"sbx/spec"
)

// FromReport reads a report of "sbx check --json": what the spec gives the sandbox, and the
// directory in which its command starts.
func FromReport(report []byte) (g wire.Granted, workspace string, err error) {
	root, err := doc.ParseLaxJSON("sbx check", report, 64)
	if err != nil {
		return g, "", err
	}
	if ok := root.Get("ok"); ok == nil || ok.Text != "true" { // or what a spec that is refused does not say would be given
		p := &spec.Problem{Do: "tell what the spec gives", Why: "sbx refuses it", Help: "sbx check with the same specs"}
		if all := doc.Items(root.Get("problems")); len(all) > 0 {
			p.Field, p.On, p.Why = spec.Field(doc.Text(all[0].Get("field"))), doc.Text(all[0].Get("on")), doc.Text(all[0].Get("reason"))
		}
		return g, "", p
	}
	for _, at := range doc.Items(root.Get("files")) {
		p := wire.Place{Path: doc.Text(at.Get("path")), Access: doc.Text(at.Get("access")), Source: doc.Text(at.Get("source"))}
		p.Protected = p.Access == "read-only" && strings.HasPrefix(doc.Text(at.Get("because")), "protected")
		if kept := at.Get("kept"); kept != nil && kept.Text == "false" {
			p.Source = ""
		} else if p.Access == "writable" {
			g.Trees = append(g.Trees, p.Source)
		}
		g.View = append(g.View, p)
	}
	if g.View == nil { // nothing is mounted
		g.View = []wire.Place{{Path: "/", Access: "writable", Source: "/"}}
	}
	switch doc.Text(root.Get("network").Get("mode")) {
	case spec.NetworkHost.String():
		g.Reach = []string{"*"}
	case spec.NetworkAllow.String():
		for _, rule := range doc.Items(root.Get("network").Get("allow")) {
			g.Reach = append(g.Reach, doc.Text(rule.Get("to")))
		}
	}
	for _, c := range doc.Items(root.Get("broker").Get("grant")) {
		g.Caps = append(g.Caps, doc.Text(c))
	}
	g.Any = root.Get("plan").Get("commands") == nil
	return g, doc.Text(root.Get("plan").Get("command").Get("dir")), nil
}
