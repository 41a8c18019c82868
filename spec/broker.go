package spec

import (
	"strings"

	"sbx/internal/broker/caps"
	"sbx/internal/doc"
	"sbx/internal/reach"
)

// BrokerAt is the broker of a spec with its paths resolved.
type BrokerAt struct {
	File  Path // zero without a broker
	Plan  Path // zero without a plan
	Grant []caps.Cap
}

// grantRule is the rule of broker.grant: a capability.
func grantRule(s string) (why, meant, help string) {
	const form = "as in fs.read:/srv/data, fs.write:out, net:example.com:443, exec:git or secret:NAME"
	kind, value, ok := caps.Split(s)
	switch {
	case !ok:
		name, rest, _ := strings.Cut(s, ":")
		if meant = doc.Nearest(name, []string{"fs.read", "fs.write", "net", "exec", "secret"}); meant != "" {
			meant += ":" + rest
		}
		return "want a capability, got " + quote(cut(s)), meant, form
	case value == "":
		return "want a capability, got " + quote(cut(s)), "", form
	case kind == caps.Net:
		if _, err := reach.Parse(value); err != nil {
			return err.Why, err.Meant, err.Help
		}
	case kind.IsPath():
		return PathRule(value)
	}
	return TextRule(value)
}

// placedGrant returns a capability with absolute applied to its path, if it has one.
func placedGrant(text string, absolute func(string) string) string {
	if kind, path, ok := caps.Split(text); ok && kind.IsPath() {
		return strings.TrimSuffix(text, path) + absolute(path)
	}
	return text
}

func (r *resolver) broker() {
	b, out := r.spec.Broker.Value, &r.out.Broker
	const file, plan, grant = "broker.file", "broker.plan", "broker.grant"
	if !b.File.Set {
		if b.Plan.Set || len(b.Grant.Value) > 0 {
			f := Field(plan)
			if !b.Plan.Set {
				f = grant
			}
			r.refuse(f, "hold a broker to it", "no broker is named", `name its document: "broker": {"file": "broker.yaml"}, or --broker broker.yaml`)
		}
		return
	}
	base := r.out.WorkingDir.Abs
	out.File, _ = r.mustExist(file, "start the broker of "+odd(b.File.Value), b.File.Value, base)
	if b.Plan.Set {
		out.Plan, _ = r.mustExist(plan, "hold the broker to "+odd(b.Plan.Value), b.Plan.Value, base)
	}
	for i, text := range b.Grant.Value {
		at, do := item(grant, i), "grant "+odd(cut(text))
		if kind, path, ok := caps.Split(text); ok && kind.IsPath() && path != "" {
			p, ok := r.mustExist(at, do, path, base)
			if !ok {
				continue
			}
			text = placedGrant(text, func(string) string { return p.Real })
		}
		c, why := caps.Parse(text, "/")
		if why != "" { // only in a spec made in Go
			r.refuse(at, do, why, "")
			continue
		}
		out.Grant = append(out.Grant, c)
	}
}
