package show

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"sbx/audit"
	"sbx/spec"
)

// sarifLog has exactly the properties of SARIF 2.1.0 that our logs have.
type sarifLog struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name    string                `json:"name"`
				Version string                `json:"version"`
				Rules   []struct{ ID string } `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Bases       map[string]struct{ URI string } `json:"originalUriBaseIds"`
		Invocations []struct {
			ExecutionSuccessful *bool         `json:"executionSuccessful"`
			ExitCode            *int          `json:"exitCode"`
			CommandLine         string        `json:"commandLine"`
			Start               *time.Time    `json:"startTimeUtc"`
			End                 *time.Time    `json:"endTimeUtc"`
			Notifications       []sarifResult `json:"toolExecutionNotifications"`
		} `json:"invocations"`
		Results []sarifResult `json:"results"`
	} `json:"runs"`
}

type sarifResult struct {
	RuleID    string `json:"ruleId"`
	RuleIndex int    `json:"ruleIndex"`
	Level     string `json:"level"`
	Message   struct {
		Text string `json:"text"`
	} `json:"message"`
	Count     int `json:"occurrenceCount"`
	Locations []struct {
		Physical struct {
			Artifact struct {
				URI  string `json:"uri"`
				Base string `json:"uriBaseId"`
			} `json:"artifactLocation"`
		} `json:"physicalLocation"`
	} `json:"locations"`
}

// sarif decodes a log, and checks the requirements of the standard.
func sarif(t *testing.T, b []byte) sarifLog {
	t.Helper()
	var log sarifLog
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(&log); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name == "" || len(log.Runs[0].Invocations) != 1 || log.Runs[0].Invocations[0].ExecutionSuccessful == nil || log.Runs[0].Results == nil {
		t.Errorf("a required property is missing: %s", b)
	}
	seen := map[string]bool{}
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		if seen[r.ID] || r.ID == "" {
			t.Errorf("rule %q is there twice, or has no id", r.ID)
		}
		seen[r.ID] = true
	}
	for _, base := range log.Runs[0].Bases {
		if u, err := url.Parse(base.URI); err != nil || u.Scheme != "file" || !strings.HasSuffix(u.Path, "/") {
			t.Errorf("%s: %v", base.URI, err)
		}
	}
	for _, r := range log.Runs[0].Results {
		if r.RuleIndex >= len(log.Runs[0].Tool.Driver.Rules) || log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("%s is not rule %d", r.RuleID, r.RuleIndex)
		}
		if r.Level != "error" || r.Message.Text == "" || r.Count < 1 {
			t.Errorf("%+v", r)
		}
		for _, l := range r.Locations {
			u, err := url.Parse(l.Physical.Artifact.URI)
			if base := l.Physical.Artifact.Base; err != nil || u.IsAbs() == (base != "") || base != "" && log.Runs[0].Bases[base].URI == "" {
				t.Errorf("%+v: %v", l, err)
			}
		}
	}
	return log
}

// junitCases decodes a suite: for each case the failures, "" for one that passed.
func junitCases(t *testing.T, text string) (cases map[string]string) {
	t.Helper()
	var suites struct {
		Suite []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Class   string `xml:"classname,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	d := xml.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&suites); err != nil || len(suites.Suite) != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	for {
		rest, err := d.Token()
		if err == io.EOF {
			break
		}
		if white, is := rest.(xml.CharData); err != nil || !is || len(strings.TrimSpace(string(white))) > 0 {
			t.Fatalf("%v follows, %v", rest, err)
		}
	}
	s, failed, skipped := suites.Suite[0], 0, 0
	cases = map[string]string{}
	for _, c := range s.Cases {
		cases[c.Class] = ""
		if c.Failure != nil {
			failed++
			cases[c.Class] = c.Failure.Message
		}
		if c.Skipped != nil {
			skipped++
			cases[c.Class] = "skipped"
		}
	}
	if s.Tests != len(s.Cases) || s.Failures != failed || s.Skipped != skipped {
		t.Errorf("it counts %d, %d and %d: %s", s.Tests, s.Failures, s.Skipped, text)
	}
	return cases
}

func TestReports(t *testing.T) {
	at := time.Unix(1, 0)
	clean := audit.Record{ID: "x", StartedAt: at, EndedAt: at, Exit: audit.Exit{Code: spec.Some(0), EndedBy: "command"}, ObservedKinds: []string{"network"},
		Command: audit.Command{Argv: []string{"make", "a b"}, Cwd: "/w"}}
	log := sarif(t, SARIF(view(t, clean)))
	if run := log.Runs[0]; len(run.Results) != 0 || !*run.Invocations[0].ExecutionSuccessful || *run.Invocations[0].ExitCode != 0 || run.Invocations[0].Notifications != nil {
		t.Errorf("control: %+v", run)
	}
	if got := junitCases(t, JUnit(view(t, clean))); len(got) != 1 || got["sbx.command"] != "" {
		t.Errorf("control: %v", got)
	}
	failed := clean
	failed.Exit.Code = spec.Some(2)
	if *sarif(t, SARIF(view(t, failed))).Runs[0].Invocations[0].ExecutionSuccessful || junitCases(t, JUnit(view(t, failed)))["sbx.command"] != "it ended with status 2" {
		t.Error("a command that failed")
	}
	unseen := clean
	unseen.ObservedKinds = nil
	if log := sarif(t, SARIF(view(t, unseen))); len(log.Runs[0].Invocations[0].Notifications) != 1 || junitCases(t, JUnit(view(t, unseen)))["sbx.denials"] != "skipped" {
		t.Error("where nobody looked")
	}
	refused := audit.Record{ID: "x", StartedAt: at, Error: &audit.Refusal{Field: "limits.memory", On: "s.json:9:14", Reason: "no cgroup", Help: "start it elsewhere"}}
	const why = "the command did not start: limits.memory: s.json:9:14: no cgroup: hint: start it elsewhere"
	if got := sarif(t, SARIF(view(t, refused))).Runs[0].Results; len(got) != 1 || got[0].Message.Text != why || junitCases(t, JUnit(view(t, refused)))["sbx.refused"] != why {
		t.Errorf("%+v", got)
	}
	denied := clean
	for _, name := range []string{"/w/a b:c%\xff", "/etc/x", "/w"} {
		denied.Violations.Add(audit.Violation{Kind: "filesystem", Action: "create a directory", Target: name, Program: "mkdir", Rule: "access_mode", AllowWith: "line"})
	}
	denied.Violations.Add(audit.Violation{Kind: "network", Action: "connect", Target: "1.2.3.4:1", Rule: "network"})
	denied.Violations.Omit(3)
	got := sarif(t, SARIF(view(t, denied))).Runs[0]
	if len(got.Results) != 2 || got.Results[0].Count != 3 || len(got.Results[0].Locations) != 3 || got.Results[0].Locations[0].Physical.Artifact.URI != "a%20b%3Ac%25%FF" ||
		got.Results[0].Locations[1].Physical.Artifact.URI != "file:///etc/x" || got.Results[1].Locations != nil || len(got.Invocations[0].Notifications) != 1 {
		t.Errorf("%+v", got)
	}
	if got := junitCases(t, JUnit(view(t, denied))); got["sbx.network.connect"] != "denied: connect 1.2.3.4:1; by network" || len(got) != 4 {
		t.Errorf("%v", got)
	}
	// Whatever names a command gives itself or its files, the form stays valid.
	v := hostileRecord(t)
	sarif(t, SARIF(v))
	junitCases(t, JUnit(v))
	v, err := audit.Parse([]byte(`{"record_version":1,"state":"\u001b","command":3,"error":[],"violations":[3,{"kind":7,"target":"\ufffe\uffff\u0000"}],"exit":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	sarif(t, SARIF(v))
	junitCases(t, JUnit(v))
}

func TestCompare(t *testing.T) {
	a, b := parsed(t, sampleText(t)), sample(t)
	if out := Compare(a, a, false); !strings.HasSuffix(out, "\n\nnothing differs\n") {
		t.Errorf("control: %s", out)
	}
	b["id"], b["started_at"], b["ended_at"] = "other", "2026-11-21T15:01:02.345Z", "2026-11-21T15:01:03.345Z" // which are not differences
	line := b["enforcement"].([]any)[1].(map[string]any)
	line["status"] = "enforced"
	delete(line, "reason")
	b["violations"] = []any{map[string]any{"kind": "network", "action": "connect", "target": "5.6.7.8:80", "rule": "network.mode: none", "count": 1}}
	b["exit"] = map[string]any{"code": 0, "ended_by": "command"}
	b["artifacts"] = b["artifacts"].([]any)[:1]
	golden(t, "compare.txt", Compare(a, read(t, b), false))
	golden(t, "compare.json", string(CompareJSON(a, read(t, b))))
	out := Compare(a, hostileRecord(t), false)
	if strings.ContainsAny(out, "\x1b\u009b\u202e\x07") {
		t.Errorf("%q", out)
	}
}
