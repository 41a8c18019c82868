package show

import (
	"strconv"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

func connections(n *spec.Node) []row {
	var rows []row
	for _, c := range doc.Items(n.Get("connections")) {
		count := func(key string) string { return strconv.FormatInt(audit.Whole(c.Get(key)).Or(0), 10) }
		r := row{cells: []string{name(c.Get("host")) + ":" + count("port"), name(c.Get("program")), count("connections") + " times",
			size(audit.Whole(c.Get("bytes_out")).Or(0)) + " out", size(audit.Whole(c.Get("bytes_in")).Or(0)) + " in"}}
		if inside := audit.Whole(c.Get("inside")); inside.Set {
			r.notes = append(r.notes, "came in, to port "+strconv.FormatInt(inside.Value, 10)+" inside")
		}
		if audit.Whole(c.Get("failed")).Set {
			r.tone = weak
			r.notes = append(r.notes, count("failed")+" failed: "+audit.Text(c.Get("reason")))
		}
		if audit.Whole(c.Get("without_sni")).Set {
			r.notes = append(r.notes, count("without_sni")+" with TLS that named no host")
		}
		rows = append(rows, r)
	}
	if c := audit.Whole(n.Get("connections_omitted")); c.Set {
		rows = append(rows, cells("and "+strconv.FormatInt(c.Value, 10)+" more"))
	}
	return rows
}
