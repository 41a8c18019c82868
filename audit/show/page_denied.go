package show

import (
	"slices"
	"strconv"
	"strings"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

// denied is a group of denials that people regard as one: the same action, denied by the same
// line of the spec, on ports of one host or on targets that one line would allow.
type denied struct {
	kind, action, host, rule, opens string
	targets, programs, allow        []string
	count                           int64
}

// fold groups denials, in the order of the first of each group.
func fold(violations *spec.Node) (all []*denied) {
	type key struct{ kind, action, rule, on string }
	index := map[key]*denied{}
	for _, v := range doc.Items(violations) {
		allow := audit.Text(v.Get("allow_with"))
		host, target := hostAndPort(v)
		k := key{audit.Text(v.Get("kind")), audit.Text(v.Get("action")), audit.Text(v.Get("rule")), "host " + host}
		switch {
		case host != "":
		case allow != "":
			k.on = "line " + allow
		default:
			k.on = "target " + target
		}
		d := index[k]
		if d == nil {
			d = &denied{kind: k.kind, action: k.action, rule: k.rule, host: host, opens: audit.Text(v.Get("opens"))}
			index[k] = d
			all = append(all, d)
		}
		d.targets = with(d.targets, target)
		d.programs = with(d.programs, audit.Text(v.Get("program")))
		d.allow = with(d.allow, allow)
		d.count += audit.Whole(v.Get("count")).Or(1)
	}
	return all
}

// hostAndPort splits a target that is a host and a port. For any other target the host is "" and
// the port is the whole target.
func hostAndPort(v *spec.Node) (host, port string) {
	target := audit.Text(v.Get("target"))
	i := strings.LastIndexByte(target, ':')
	if audit.Text(v.Get("kind")) != "network" || i <= 0 || target[0] == '/' || target[0] == '@' || i == len(target)-1 || doc.LeadingDigits(target[i+1:]) != target[i+1:] {
		return "", target
	}
	return target[:i], target[i+1:]
}

// with appends a value that is not empty and not in the list yet.
func with(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// maxTogether is how many targets or ports one line shows.
const maxTogether = 12

// on returns the targets in a few words, and the targets that are left out there.
func (d *denied) on() (words string, also []string) {
	switch {
	case d.host != "" && len(d.targets) == 1:
		return spec.Name(d.host) + ":" + d.targets[0], nil
	case d.host != "":
		return spec.Name(d.host) + " ports " + some(d.targets), nil
	case len(d.targets) > 1:
		return spec.Name(d.targets[0]) + " and " + strconv.Itoa(len(d.targets)-1) + " more", d.targets[1:]
	case len(d.targets) == 1:
		return spec.Name(d.targets[0]), nil
	}
	return "", nil
}

// some returns the first values of a list, and how many more there are.
func some(list []string) string {
	names := make([]string, 0, maxTogether)
	for _, s := range list[:min(len(list), maxTogether)] {
		names = append(names, spec.Name(s))
	}
	out := strings.Join(names, ", ")
	if more := len(list) - maxTogether; more > 0 {
		out += " and " + strconv.Itoa(more) + " more"
	}
	return out
}

// maxNesting is how deep a list in an advised line may be nested.
const maxNesting = 64

// lines returns the lines of a spec that would allow the whole group: a single line if they are
// all lists of one field.
func (d *denied) lines() []string {
	field, values := "", []string(nil)
	for _, line := range d.allow {
		name, list, _ := strings.Cut(line, ": ")
		n, err := doc.ParseLaxJSON("line", []byte(list), maxNesting)
		if err != nil || n.Kind != spec.List || field != "" && name != field {
			return d.allow
		}
		field = name
		for _, item := range n.Items {
			values = with(values, string(item.AppendJSON(nil, nil)))
		}
	}
	if field == "" {
		return nil
	}
	return []string{field + ": [" + strings.Join(values, ", ") + "]"}
}

// advice returns these lines, each with what else it would allow.
func (d *denied) advice() []string {
	all := d.lines()
	for i := range all {
		if d.opens != "" {
			all[i] += ", which opens all of " + spec.Name(d.opens)
		}
	}
	return all
}

func denialRows(n *spec.Node) []row {
	var rows []row
	for _, d := range fold(n.Get("violations")) {
		on, also := d.on()
		times := ""
		if d.count > 1 {
			times = strconv.FormatInt(d.count, 10) + " times"
		}
		r := row{tone: bad, cells: []string{d.kind, d.action, on, some(d.programs), times}}
		if len(also) > 0 {
			r.notes = append(r.notes, "also "+some(also))
		}
		if d.rule != "" {
			r.notes = append(r.notes, "denied by "+d.rule)
		}
		for _, line := range d.advice() {
			r.notes = append(r.notes, "allow with "+line)
		}
		rows = append(rows, r)
	}
	if c := audit.Whole(n.Get("violations_omitted")); c.Set {
		rows = append(rows, cells("and "+strconv.FormatInt(c.Value, 10)+" more"))
	}
	return rows
}
