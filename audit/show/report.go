package show

import (
	"strconv"
	"strings"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

// finding is one result in a report for another program: why the command did not start, or a
// group of denials.
type finding struct {
	rule    string // kind/action, of few characters
	subject string
	message string
	count   int64
	paths   []string // of the files concerned
}

// findings returns the findings of a record.
func findings(v audit.View) (all []finding) {
	if e := v.Node.Get("error"); e != nil {
		r := refusal(e)[0]
		all = append(all, finding{rule: "refused", subject: "the command did not start", count: 1,
			message: "the command did not start: " + strings.TrimPrefix(strings.Join(append(r.cells, r.notes...), ": "), ": ")})
	}
	for _, d := range fold(v.Node.Get("violations")) {
		on, also := d.on()
		f := finding{rule: plainWord(d.kind) + "/" + plainWord(d.action), subject: strings.TrimSpace(d.action + " " + on), count: d.count}
		if d.kind == "filesystem" && len(d.targets) > 0 && strings.HasPrefix(d.targets[0], "/") {
			f.paths = d.targets
		}
		parts := []string{"denied: " + f.subject}
		if len(d.programs) > 0 {
			parts[0] += " (" + some(d.programs) + ")"
		}
		if len(also) > 0 {
			parts = append(parts, "also "+some(also))
		}
		if d.rule != "" {
			parts = append(parts, "by "+d.rule)
		}
		for _, line := range d.advice() {
			parts = append(parts, "allow with "+line)
		}
		f.message = strings.Join(parts, "; ")
		all = append(all, f)
	}
	return all
}

// unlisted says that denials may be missing in the findings, "" if none are.
func unlisted(v audit.View) string {
	if n := audit.Whole(v.Node.Get("violations_omitted")).Or(0); n > 0 {
		return strconv.FormatInt(n, 10) + " more denials are not listed"
	}
	if _, known := v.Denials(); !known && v.State != audit.StateRefused {
		return "nobody could see whether anything was denied"
	}
	return ""
}

// plainWord replaces every character but letters and digits by a hyphen.
func plainWord(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		}
		return '-'
	}, s)
}

// sarifSchema is the address of the schema of SARIF 2.1.0.
const sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"

// SARIF returns the findings of a record as a log of SARIF 2.1.0.
func SARIF(v audit.View) []byte {
	n, found := v.Node, findings(v)
	w := doc.Writer{Lines: 1, Text: spec.Shown}
	w.Open('{')
	w.KeyStr("$schema", sarifSchema)
	w.KeyStr("version", "2.1.0")
	w.KeyOpen("runs", '[')
	w.Row()
	w.Open('{')
	w.KeyOpen("tool", '{')
	w.KeyOpen("driver", '{')
	w.KeyStr("name", "sbx")
	w.KeyText("version", audit.Text(n.Get("sbx").Get("version")))
	rules := sarifRules(&w, found)
	w.Close('}')
	w.Close('}')
	cwd := strings.TrimRight(audit.Text(n.Get("command").Get("cwd")), "/") + "/"
	if cwd[0] != '/' {
		cwd = "/"
	}
	if cwd != "/" {
		w.KeyOpen("originalUriBaseIds", '{')
		w.KeyOpen("SRCROOT", '{')
		w.KeyStr("uri", "file://"+escapeURI(cwd))
		w.Close('}')
		w.Close('}')
	}
	sarifInvocation(&w, v)
	doc.Objects(&w, "results", found, func(f *finding) { f.sarif(&w, rules, cwd) })
	w.Close('}')
	w.Close(']')
	w.Close('}')
	return append(w.B, '\n')
}

// sarifRules writes a rule for each kind of finding and returns the index of each rule.
func sarifRules(w *doc.Writer, found []finding) map[string]int64 {
	index, ids := map[string]int64{}, []string{}
	for i := range found {
		id := found[i].rule
		if _, is := index[id]; !is {
			index[id] = int64(len(index))
			ids = append(ids, id)
		}
	}
	doc.Objects(w, "rules", ids, func(id *string) { w.KeyStr("id", *id) })
	return index
}

func sarifInvocation(w *doc.Writer, v audit.View) {
	n := v.Node
	w.KeyOpen("invocations", '[')
	w.Row()
	w.Open('{')
	code := audit.Whole(n.Get("exit").Get("code"))
	w.KeyBool("executionSuccessful", v.State == audit.StateExited && code.Set && code.Value == 0)
	if code.Set {
		w.KeyInt("exitCode", code.Value)
	}
	w.KeyText("commandLine", quoteArgs(n.Get("command").Get("argv")))
	w.KeyText("startTimeUtc", audit.Text(n.Get("started_at")))
	w.KeyText("endTimeUtc", audit.Text(n.Get("ended_at")))
	if more := unlisted(v); more != "" {
		w.KeyOpen("toolExecutionNotifications", '[')
		w.Row()
		w.Open('{')
		w.KeyStr("level", "warning")
		sarifMessage(w, more)
		w.Close('}')
		w.Close(']')
	}
	w.Close('}')
	w.Close(']')
}

func sarifMessage(w *doc.Writer, s string) {
	w.KeyOpen("message", '{')
	w.KeyStr("text", s)
	w.Close('}')
}

func (f *finding) sarif(w *doc.Writer, rules map[string]int64, cwd string) {
	w.KeyStr("ruleId", f.rule)
	w.KeyInt("ruleIndex", rules[f.rule])
	w.KeyStr("level", "error")
	sarifMessage(w, f.message)
	w.KeyInt("occurrenceCount", f.count)
	if len(f.paths) == 0 {
		return
	}
	doc.Objects(w, "locations", f.paths, func(path *string) {
		w.KeyOpen("physicalLocation", '{')
		w.KeyOpen("artifactLocation", '{')
		if rel, is := strings.CutPrefix(*path, cwd); is && cwd != "/" && rel != "" {
			w.KeyStr("uri", escapeURI(rel))
			w.KeyStr("uriBaseId", "SRCROOT")
		} else {
			w.KeyStr("uri", "file://"+escapeURI(*path))
		}
		w.Close('}')
		w.Close('}')
	})
}

// escapeURI escapes a path for a URI.
func escapeURI(path string) string {
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if plainWord(string(rune(c))) != "-" || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteString("%" + strings.ToUpper(doc.Hex([]byte(path[i:i+1]))))
	}
	return b.String()
}

// JUnit returns the findings as a test suite in JUnit's XML: a test case for how the command
// ended, and a failed one for each finding.
func JUnit(v audit.View) string {
	n, found := v.Node, findings(v)
	var cases strings.Builder
	failures, skipped := len(found), 0
	open := func(class, name string) {
		cases.WriteString(`    <testcase classname="sbx.` + escapeHTML(class) + `" name="` + escapeHTML(name) + `"`)
	}
	open("command", quoteArgs(n.Get("command").Get("argv")))
	if code := audit.Whole(n.Get("exit").Get("code")); v.State == audit.StateExited && code.Set && code.Value == 0 || v.State == audit.StateRefused {
		cases.WriteString("/>\n") // why it did not start is a finding
	} else {
		failures++
		cases.WriteString(">\n      <failure type=\"exit\" message=\"" + escapeHTML("it ended "+howEnded(v)) + "\"/>\n    </testcase>\n")
	}
	for i := range found {
		f := &found[i]
		open(strings.ReplaceAll(f.rule, "/", "."), f.subject)
		cases.WriteString(">\n      <failure type=\"" + escapeHTML(f.rule) + `" message="` + escapeHTML(f.message) + "\"/>\n    </testcase>\n")
	}
	if more := unlisted(v); more != "" {
		skipped++
		open("denials", "others")
		cases.WriteString(">\n      <skipped message=\"" + escapeHTML(more) + "\"/>\n    </testcase>\n")
	}
	out := `<?xml version="1.0" encoding="UTF-8"?>` + "\n<testsuites>\n  <testsuite name=\"" + escapeHTML("sbx "+audit.Text(n.Get("id"))) + `" tests="` +
		strconv.Itoa(1+len(found)+skipped) + `" failures="` + strconv.Itoa(failures) + `" errors="0" skipped="` + strconv.Itoa(skipped) + `"`
	if at := audit.Text(n.Get("started_at")); at != "" {
		out += ` timestamp="` + escapeHTML(strings.TrimSuffix(at, "Z")) + `"`
	}
	if ms := audit.Whole(n.Get("usage").Get("wall_ms")); ms.Set {
		out += ` time="` + strconv.FormatFloat(float64(ms.Value)/1000, 'f', 3, 64) + `"`
	}
	return out + ">\n" + cases.String() + "  </testsuite>\n</testsuites>\n"
}
