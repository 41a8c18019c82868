package life

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"sbx/dispatch"
	"sbx/spec"
)

// verdict is the result of a dispatch for the program that requested it.
type verdict struct {
	status  string // pass, warn or fail
	summary string // one line
}

const maxSummary = 500

// verdictIn returns the verdict in an agent's last message: the lines STATUS: and SUMMARY:
// after the last line "--- VERDICT ---".
func verdictIn(words string) (v verdict, ok bool) {
	inside := false
	for line := range strings.Lines(words) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "--- VERDICT ---":
			inside, v = true, verdict{}
		case inside && line == "---":
			inside = false
		case inside && strings.HasPrefix(line, "STATUS: "):
			v.status = strings.ToLower(strings.TrimSpace(line[len("STATUS: "):]))
		case inside && strings.HasPrefix(line, "SUMMARY: "):
			v.summary = oneLine(line[len("SUMMARY: "):])
		}
	}
	return v, v.status == "pass" || v.status == "warn" || v.status == "fail"
}

// judge returns the verdict on a dispatch: the agent's own if the command succeeded, else
// that it failed and why.
func judge(words string, e *dispatch.End) verdict {
	if e.Status != dispatch.Completed {
		return verdict{"fail", oneLine(e.Error.Or("it " + string(e.Status)))}
	}
	if v, ok := verdictIn(words); ok {
		if v.summary == "" {
			v.summary = "the agent gives no summary"
		}
		return v
	}
	return verdict{"pass", "it ended with status 0, and gave no verdict of its own"}
}

// text returns the content of the verdict file.
func (v verdict) text() string {
	return "--- VERDICT ---\nSTATUS: " + v.status + "\nSUMMARY: " + v.summary + "\n---\n"
}

// summary returns the content of the summary file, without unknown counts.
func summary(name string, took time.Duration, c dispatch.Counts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Dispatch: %s\nDuration: %dm %ds\n", oneLine(name), int(took.Minutes()), int(took.Seconds())%60)
	var used []string
	for _, n := range []struct {
		what string
		v    spec.Opt[int64]
	}{{"Turns", c.Turns}, {"Commands", c.Commands}, {"Messages", c.Messages}} {
		if n.v.Set {
			used = append(used, fmt.Sprintf("%s: %d", n.what, n.v.Value))
		}
	}
	if len(used) > 0 {
		b.WriteString(strings.Join(used, " | ") + "\n")
	}
	if c.Input.Set && c.Output.Set {
		fmt.Fprintf(&b, "Tokens: %d in / %d out\n", c.Input.Value, c.Output.Value)
	}
	return b.String()
}

// oneLine replaces control characters and line breaks by blanks, and cuts the text at
// maxSummary characters.
func oneLine(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?")))
	if r := []rune(s); len(r) > maxSummary {
		return string(r[:maxSummary]) + "…"
	}
	return s
}
