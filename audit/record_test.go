package audit

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sbx/audit/agent"
	"sbx/internal/doc"
	"sbx/internal/reach"
	"sbx/spec"
	"sbx/spec/redact"
	"sbx/wrap"
)

// sample returns a record with every key.
func sample() Record {
	at := time.Date(2026, 11, 21, 14, 1, 2, 345e6, time.UTC)
	r := Record{
		ID: "20261121T140102.345-0123abcd", StartedAt: at, EndedAt: at.Add(time.Second), Version: "0.1.0",
		Supervisor: Process{PID: 4242, Start: spec.Some[int64](99), BootID: "b-o-o-t", Namespace: spec.Some[int64](4026531836)},
		Command:    Command{Argv: []string{"make", "--token=abc", "\xffodd\x1b[31m"}, Asked: []string{"make"}, Cwd: "/w", Executable: "/usr/bin/make"},
		Profile:    Profile{Name: "read-only", Why: []string{"it is named"}, Off: true},
		Warnings:   []spec.Warning{{Field: "sandbox", On: "a.worker:2:1", Text: "old style"}},
		ToolsUsed:  spec.Some([]string{"Read"}), AccessMode: spec.WorkspaceWrite, TurnsUsed: spec.Some(0),
		Commands: spec.Some(Commands{Attempted: 7, Started: 3, Refused: 2, Programs: []ProgramCount{{"make", 2}, {"sh", 1}}, Overcharged: spec.Some(0), Own: spec.Some(1), By: "ptrace"}),
		Agent: &agent.Summary{Name: "codex", Version: "0.169.0", Session: "01a1", Turns: spec.Some(0),
			Tools: spec.Some([]agent.Tool{{Name: "file_change", Asked: 3, Ran: 1, Refused: 2}, {Name: "odd\"\x1b", Asked: 1}}), Called: spec.Some([]agent.Tool{}), Shell: spec.Some(0),
			Tokens: spec.Some(agent.Tokens{Input: 5, Cached: 4, Output: 3}), End: spec.Some(agent.End{Reason: "bad key ghp_0123456789abcdef0123456789abcdef0123"}),
			Unseen: []agent.Unseen{{What: "subagents", Why: "not in the stream"}}},
		Timeline: &Timeline{root: 4250, omitted: 1, list: []Program{{At: at, EndedAt: at.Add(900 * time.Millisecond), PID: 4251, Parent: 4250, Path: "/usr/bin/cc"},
			{At: at.Add(time.Millisecond), PID: 4252, Parent: 4251, Path: "./as\xff"}}},
		Opened:      &Openings{omitted: 2, list: []Opening{{At: at, Path: "/w/a.o", Action: "create", Count: 2}}},
		Connections: &Connections{omitted: 3},
		Broker: &Broker{Document: strings.Repeat("b", 64), Plan: strings.Repeat("c", 64), Required: true, Calls: spec.Some(int64(3)), Denied: spec.Some(int64(1)),
			ByTool: []ToolCalls{{"sign", 3, 1}}, Lines: 5},
		Backend:       Backend{Asked: "docker", Used: "native", Version: "20.10", Image: "sbx-sandbox:latest", Reason: "it does not answer", Unseen: []string{"commands"}},
		ObservedKinds: []string{"filesystem"}, ObservedFiles: []string{"names"},
		Container: &Container{ID: "c1", Engine: "containerd", Namespace: "k8s.io", PodNamespace: "default", Pod: "p", Name: "n", Image: "busybox:1", ImageDigest: "sha256:00",
			Runtime: "/usr/sbin/runc", Bundle: "/run/b", NothingAsked: true, Edits: []ContainerEdit{{"process.args", "sbx-init"}}, ExitUnknown: "nobody waits"},
		Enforcement: []wrap.Enforcement{{Field: "access_mode", Asked: "workspace-write", By: "mount namespace"}, {Field: "limits.memory", Asked: "2GiB", Status: wrap.Degraded, Reason: "no cgroup"}},
		Host:        &wrap.Host{Release: "6.18.44", Arch: "amd64", LandlockABI: 7, UID: 0, Container: wrap.Engine{Name: "docker"}}, Rung: spec.Some(wrap.RungUser),
		Exit:      Exit{Code: spec.Some(137), Signal: spec.Some(9), EndedBy: "signal"},
		Usage:     Usage{WallMS: spec.Some[int64](1000), UserMS: spec.Some[int64](0), SystemMS: spec.Some[int64](4), MaxRSS: spec.Some[int64](1 << 33)},
		Artifacts: spec.Some([]Artifact{{"a\xff", 3, strings.Repeat("a", 64), 0o644}, {"b", 3, "", 0o4755}}), ArtifactsOmitted: 2,
		Protected: []Change{{Path: "/w/.git/config", DigestBefore: strings.Repeat("b", 64), Events: []Notice{{At: at, What: Removed},
			{At: at, What: Replaced, Found: strings.Repeat("c", 64), Renewed: at.Add(time.Second), Lacked: 1500 * time.Microsecond, Kept: strings.Repeat("d", 64)}},
			Omitted: 3, Unprotected: time.Second, Bare: true, Why: "move_mount: no space left on device"}},
		Swept: spec.Some(Swept{Moved: []Moved{{"/w/ev/.git", "/s/swept/1-.git", "folder", ""}}, Omitted: 1,
			Cuts: []string{"/w/deep: nested too deep"}, Repositories: []string{"/w/new/.git"}}),
		Resolved: &spec.Resolved{
			AccessMode: spec.WorkspaceWrite, WorkingDir: spec.Path{Abs: "/w"}, Visible: true, System: true, Private: true, SideDoors: true,
			Read: []spec.Path{{Abs: "/usr"}}, Write: []spec.Path{{Abs: "/w"}}, Hide: []spec.Path{{Abs: "/h"}}, Globs: []string{"**/.git"},
			Mounts:  []spec.MountAt{{Mount: spec.Mount{Label: "in", Mode: spec.MountRO}, Source: spec.Path{Abs: "/in"}, Target: "/input"}},
			Network: spec.NetworkAllow, Reach: reach.Reach{{Text: "h:443", Cause: "network.allow[0]"}}, Listen: []reach.Listen{{Address: reach.V4(127, 0, 0, 1), Host: 80, Inside: 3000}}, Dropped: []string{"GITHUB_TOKEN"}, Passed: []string{"PATH"}, Syscalls: "default",
			Job: &spec.Job{Input: spec.Path{Abs: "/in"}, Output: spec.Path{Abs: "/out"}}, BestEffort: []spec.Field{"limits"},
			Spec: &spec.SandboxSpec{
				MaxTurns: spec.Some(0), MaxCommands: spec.Some(5), OnExceed: spec.Some(spec.Deny),
				ToolsAllowed: spec.Some([]string{"Read"}), ToolsDenied: spec.Some([]string{}),
				Network:     spec.Some(spec.Network{Allow: spec.Some([]string{"h:443"})}),
				Environment: spec.Some(spec.Environment{Set: spec.Some(map[string]string{"Z": "s3cret", "A": "s3cret", "\xff": "s3cret"})}),
				Commands:    spec.Some(spec.Commands{Allow: spec.Some([]string{"git"})}),
				Limits: spec.Some(spec.Limits{Memory: spec.Some(spec.Bytes(2 << 30)), CPUs: spec.Some(1.5), PIDs: spec.Some(256), OpenFiles: spec.Some(1024),
					FileSize: spec.Some(spec.Bytes(1)), Timeout: spec.Some(30 * time.Minute)}),
			},
		},
	}
	r.Connections.Add(Connection{Host: "127.0.0.1", Port: 8080, Inside: 3000, Made: 2, Failed: 1, Out: 5, In: 6, Why: "nobody answers inside: connection refused"})
	r.Connections.Add(Connection{Host: "example.com", Port: 443, Program: "curl", Made: 3, Failed: 1, NoSNI: 1, Out: 10, In: 1 << 40, Why: "no answer"})
	r.Violations.Add(Violation{Kind: "network", At: at, PID: 5, Program: "/usr/bin/curl", Action: "connect", Target: "1.2.3.4:80", Host: "1.2.3.4", Port: 80,
		Rule: "network.mode: none", AllowWith: `network.allow: ["1.2.3.4:80"]`})
	return r
}

var update = flag.Bool("update", false, "rewrite the golden file")

// TestRecordGolden writes the record that the tests of package show read.
func TestRecordGolden(t *testing.T) {
	const path = "testdata/record.json"
	got := sample().AppendJSON(nil)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The schema has each status that a line may have.
func TestSchemaHasEachStatus(t *testing.T) {
	for s := wrap.Enforced; s <= wrap.Unavailable; s++ {
		if !strings.Contains(Schema(), `"`+s.String()+`"`) {
			t.Errorf("%s is not in the schema", s)
		}
	}
}

func decode(t *testing.T, b []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return m
}

func TestRecordValues(t *testing.T) {
	b := sample().AppendJSON(nil)
	m := decode(t, b)
	for path, want := range map[string]any{
		"record_version": 1.0, "state": "exited", "access_mode": "workspace-write", "turns_used": 0.0, "commands_used": 3.0,
		"commands.by": "ptrace", "commands.attempted": 7.0, "commands.refused": 2.0, "commands.programs.1.name": "sh", "commands.overcharged": 0.0, "commands.own": 1.0,
		"started_at": "2026-11-21T14:01:02.345Z", "ended_at": "2026-11-21T14:01:03.345Z",
		"command.argv": []any{"make", "--token=<redacted>", `\xffodd` + "\x1b[31m"}, "command.cwd": "/w",
		"violations.0.target": "1.2.3.4:80", "violations.0.count": 1.0, "violations.0.pid": 5.0,
		"enforcement.1.status": "degraded", "enforcement.0.by": "mount namespace", "enforcement.0.reason": nil,
		"agent.name": "codex", "agent.turns": 0.0, "agent.tools.file_change.refused": 2.0, "agent.tools.odd\"\x1b.asked": 1.0, "agent.called": map[string]any{},
		"agent.tokens.cached": 4.0, "agent.end.completed": false, "agent.end.reason": "bad key <redacted>", "agent.unseen.0.what": "subagents",
		"exit.code": 137.0, "exit.signal": 9.0, "usage.user_ms": 0.0, "usage.max_rss_bytes": float64(1 << 33),
		"host.uid": 0.0, "host.rung": "user namespace", "artifacts.0.path": `a\xff`, "artifacts.1.mode": "4755", "artifacts.1.sha256": nil,
		"protected.0.events.0.what": "removed", "protected.0.digest_after": nil, "swept.0.kind": "folder", "new_repositories.0": "/w/new/.git",
		"pid": 4242.0, "pid_start": 99.0, "sbx.version": "0.1.0", "resolved.write": []any{"/w", "**/.git"},
		"resolved.read": []any{"@system", "/usr"}, "resolved.limits.cpus": 1.5, "resolved.limits.timeout": "30m0s",
		"resolved.environment.set.A": "<redacted>", "resolved.environment.passed": []any{"PATH"}, "resolved.tools_denied": []any{},
		"error": nil, "requested": nil, "sources": []any{},
	} {
		if got := at(m, path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, want %#v", path, got, want)
		}
	}
	if strings.Contains(string(b), "s3cret") {
		t.Error("a value of the environment is in the record")
	}
}

// at follows a path of keys and indexes; it returns nil if the path leads nowhere.
func at(v any, path string) any {
	for k := range strings.SplitSeq(path, ".") {
		switch c := v.(type) {
		case map[string]any:
			v = c[k]
		case []any:
			i := int(k[0] - '0')
			if i >= len(c) {
				return nil
			}
			v = c[i]
		default:
			return nil
		}
	}
	return v
}

// TestNothingObserved checks that a value that nobody observed is absent, never 0.
func TestNothingObserved(t *testing.T) {
	m := decode(t, Record{ID: "x"}.AppendJSON(nil))
	want := map[string]bool{"record_version": true, "id": true, "state": true, "violations": true, "observed_kinds": true, "command": true,
		"sources": true, "enforcement": true, "sbx": true}
	for k := range m {
		if !want[k] {
			t.Errorf("%s is there", k)
		}
	}
	for k := range want {
		if _, ok := m[k]; !ok {
			t.Errorf("%s is not", k)
		}
	}
	if m["state"] != "running" {
		t.Errorf("state %v", m["state"])
	}
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		r    Record
		want string
	}{
		{Record{}, "running"},
		{Record{EndedAt: time.Unix(1, 0)}, "exited"},
		{Record{Error: &Refusal{}}, "refused"},
		{Record{Error: &Refusal{}, EndedAt: time.Unix(1, 0)}, "refused"},
	} {
		if got := c.r.state(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestRequested(t *testing.T) {
	doc := func(text string) *spec.SandboxSpec {
		n, err := doc.ParseJSON("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return &spec.SandboxSpec{Source: spec.Source{Root: n}}
	}
	secret := doc(`{"environment": {"set": {"A": "s3cret", "B.c": "s3cret"}}, "access_mode": "read-only"}`)
	m := decode(t, Record{Documents: []*spec.SandboxSpec{secret}, Sources: []string{"a.json"}}.AppendJSON(nil))
	if got := at(m, "requested.environment.set"); !reflect.DeepEqual(got, map[string]any{"A": redact.Mark, "B.c": redact.Mark}) {
		t.Errorf("environment.set is %v", got)
	}
	// The digest is that of the original in canonical form: keys sorted, no spaces.
	if got, want := m["requested_digest"], digestHex([]byte(`{"access_mode":"read-only","environment":{"set":{"A":"s3cret","B.c":"s3cret"}}}`)); got != want {
		t.Errorf("digest %v, want %v", got, want)
	}
	two := Record{Documents: []*spec.SandboxSpec{doc(`{"b":1,"a":2}`), doc(`{}`)}, Sources: []string{"a", "b"}}.AppendJSON(nil)
	m = decode(t, two)
	if got := m["requested"]; !reflect.DeepEqual(got, []any{map[string]any{"a": 2.0, "b": 1.0}, map[string]any{}}) {
		t.Errorf("requested %v", got)
	}
	if got, want := m["requested_digest"], digestHex([]byte(`[{"a":2,"b":1},{}]`)); got != want {
		t.Errorf("digest %v, want %v", got, want)
	}
	// The record must not claim that an unreadable document requested nothing.
	m = decode(t, Record{Sources: []string{"broken.json"}, Error: &Refusal{Reason: "no JSON"}}.AppendJSON(nil))
	if m["requested"] != nil || m["requested_digest"] != nil {
		t.Errorf("requested %v", m["requested"])
	}
}

func TestRefused(t *testing.T) {
	got := RefusalOf(&spec.Problem{Field: "limits.memory", On: "s.json:9:14", Do: "cap memory at 2GiB", Why: "no cgroup", Help: "start it so"})
	if *got != (Refusal{"limits.memory", "s.json:9:14", "cannot cap memory at 2GiB: no cgroup", "start it so"}) {
		t.Errorf("%+v", got)
	}
	if got := RefusalOf(&spec.Problem{Why: "w"}); got.Reason != "w" {
		t.Errorf("%+v", got)
	}
}

func TestLongCommands(t *testing.T) {
	argv := make([]string, 5000)
	m := decode(t, Record{Command: Command{Argv: argv}}.AppendJSON(nil))
	if n := len(at(m, "command.argv").([]any)); n != maxArgv || at(m, "command.argv_omitted") != 4000.0 {
		t.Errorf("%d kept, %v omitted", n, at(m, "command.argv_omitted"))
	}
}

func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("record.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("record.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchema validates random records, in which each field of sample is set or not.
func TestSchema(t *testing.T) {
	s := compiled(t)
	rng := rand.New(rand.NewPCG(1, 2))
	check := func(r Record) {
		t.Helper()
		b := r.AppendJSON(nil)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
		if err == nil {
			err = s.Validate(v)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if _, err := Parse(b); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
	}
	check(sample())
	for range 2000 {
		r := sample()
		forget(rng, reflect.ValueOf(&r).Elem())
		check(r)
		r.Error, r.Exit = &Refusal{Reason: "x", On: "y"}, Exit{}
		check(r)
	}
}

// forget sets random exported fields to zero.
func forget(rng *rand.Rand, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanSet() {
			continue
		}
		if rng.IntN(3) == 0 {
			f.SetZero()
		} else if f.Kind() == reflect.Struct && f.Type() != reflect.TypeFor[time.Time]() && !f.FieldByName("Set").IsValid() {
			forget(rng, f)
		}
	}
}

// TestSchemaKnowsEveryKey checks that the schema has every key of sample, and sample every key of
// the schema, except those of a refusal or a cut list.
func TestSchemaKnowsEveryKey(t *testing.T) {
	var doc struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal([]byte(Schema()), &doc); err != nil {
		t.Fatal(err)
	}
	m := decode(t, sample().AppendJSON(nil))
	for k := range m {
		if doc.Properties[k] == nil {
			t.Errorf("the schema lacks %s", k)
		}
	}
	for k := range doc.Properties {
		if _, ok := m[k]; !ok && k != "error" && k != "violations_omitted" && !strings.HasPrefix(k, "requested") {
			t.Errorf("the sample lacks %s", k)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	s := compiled(t)
	for _, edit := range []string{
		`"state": "exited"|"state": "done"`, `"record_version": 1|"record_version": 2`, `"pid": 4242|"pid": 0`,
		`"uid": 0|"uid": -1`, `"Z": "<redacted>"|"Z": "s3cret"`, `"status": "degraded"|"status": "fine"`, `"mode": "0644"|"mode": 420`,
		`"state": "exited"|"state": "refused"`, `"ran": 1|"ran": -1`, `"name": "codex"|"name": "none"`, `"completed": false|"completed": null`,
	} {
		from, to, _ := strings.Cut(edit, "|")
		b := string(sample().AppendJSON(nil))
		if !strings.Contains(b, from) {
			t.Fatalf("no %s in the sample", from)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(b, from, to, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(v) == nil {
			t.Errorf("%s passes", to)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	r := sample()
	b.ReportAllocs()
	for b.Loop() {
		r.AppendJSON(nil)
	}
}
