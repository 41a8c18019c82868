package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/sys/unix"
)

// canonical is RFC 8785 for documents with ASCII names and whole numbers: keys sorted, no space, no
// unnecessary escapes.
func canonical(t *testing.T, doc string) []byte {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(doc))
	dec.UseNumber()
	var v any
	must(t, dec.Decode(&v))
	var b bytes.Buffer
	enc := json.NewEncoder(&b) // sorts the keys of a map
	enc.SetEscapeHTML(false)
	must(t, enc.Encode(v))
	return bytes.TrimRight(b.Bytes(), "\n")
}

func digest(t *testing.T, doc string) string {
	sum := sha256.Sum256(canonical(t, doc))
	return hex.EncodeToString(sum[:])
}

func TestRecordIsWrittenAhead(t *testing.T) {
	inEach(t, func(t *testing.T, b *box, spec string) {
		s := b.start(spec, "/bin/sh", "-c", "echo ready; read x; exit 3")
		s.expect("ready")
		before, err := os.Stat(b.rec)
		must(t, err)
		r, err := readRecord(b.rec)
		must(t, err)
		if r.text("state") != "running" || r["exit"] != nil || r["ended_at"] != nil || r.text("started_at") == "" {
			t.Errorf("while it runs: %v", r)
		}
		if pid, _ := r["pid"].(float64); int(pid) != s.cmd.Process.Pid {
			t.Errorf("pid %v, want %d", r["pid"], s.cmd.Process.Pid)
		}
		if len(r.list("enforcement")) == 0 && spec != specNone {
			t.Error("no line of enforcement while it runs")
		}
		if code := s.wait(); code != 3 {
			t.Errorf("status %d", code)
		}
		after, err := os.Stat(b.rec)
		must(t, err)
		if os.SameFile(before, after) {
			t.Error("the record was written over, not replaced")
		}
		r, err = readRecord(b.rec)
		must(t, err)
		if r.text("state") != "exited" || r.at("exit", "code") != 3.0 || r.text("ended_at") == "" {
			t.Errorf("at the end: %v", r)
		}
		if left, _ := filepath.Glob(b.base + "/*"); len(left) != 5 { // ws home out state rec.json
			t.Errorf("beside it lies: %v", left)
		}
		if info, _ := os.Stat(b.rec); info.Mode().Perm()&0o022 != 0 {
			t.Errorf("others may write it: %v", info.Mode())
		}
	})
}

// Whenever a reader looks, there is one whole record.
func TestRecordIsReplacedAtOnce(t *testing.T) {
	b := newBox(t)
	stop := make(chan bool)
	bad := make(chan string, 1)
	go func() {
		defer close(bad)
		for {
			select {
			case <-stop:
				return
			default:
			}
			text, err := os.ReadFile(b.rec)
			if err == nil && !json.Valid(text) {
				bad <- string(text)
				return
			}
		}
	}()
	for i := 0; i < 40; i++ {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		cmd := b.command(ctx, specNone, "true")
		if err := cmd.Run(); err != nil {
			t.Error(err)
		}
		cancel()
	}
	close(stop)
	if text := <-bad; text != "" {
		t.Errorf("half a record: %q", text)
	}
}

func TestRecordIsOutOfReach(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.rec = b.ws + "/run.json"
		script := `
			grep -q '"state"' run.json && echo readable; (echo forged >run.json) 2>/dev/null && echo written
			rm -f run.json 2>/dev/null; mv run.json away 2>/dev/null && echo moved; ln run.json linked 2>/dev/null && echo linked
			echo forged >mine; mv -f mine run.json 2>/dev/null; rm -f mine; cat run.json 2>/dev/null | grep state`
		r := b.sh(specWW, script).ended()
		if r.out != "end\n" {
			t.Errorf("%v", r)
		}
		if r.rec.text("state") != "exited" {
			t.Errorf("the record: %v", r.rec)
		}
		if r = b.sh(specFull, "grep -q '\"state\"' run.json && echo readable").ended(); r.out != "readable\nend\n" {
			t.Errorf("control: %v", r)
		}
		b.rec = b.base + "/rec.json"
		// The state directory is out of reach as well, and so is the default place.
		r = b.plain(append([]string{sbxPath, "exec", "--spec-json", specWW, "--"}, "/bin/sh", "-c", `find "$XDG_STATE_HOME" -name effective.json 2>/dev/null | grep . && echo seen; (echo x >"$XDG_STATE_HOME/sbx/x") 2>/dev/null; echo end`)...).ended()
		if r.out != "end\n" {
			t.Errorf("the state directory: %v", r)
		}
		if found, _ := filepath.Glob(b.base + "/state/sbx/runs/*/effective.json"); len(found) == 0 {
			t.Error("no record in the state directory")
		}
		b.absent("state/sbx/x")
	})
}

func TestWhereTheRecordGoes(t *testing.T) {
	b := newBox(t)
	run := func(path string) result {
		return b.plain(sbxPath, "exec", "--spec-json", specNone, "--effective", path, "--", "/bin/sh", "-c", "echo end")
	}
	// The last component is replaced, never followed.
	target := b.write("target", "kept\n")
	must(t, os.Symlink(target, b.base+"/link.json"))
	run(b.base + "/link.json").ended()
	b.holds(target, "kept\n")
	if info, err := os.Lstat(b.base + "/link.json"); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link: %v %v", info, err)
	}
	must(t, os.Symlink(b.base+"/nowhere", b.base+"/dangling.json"))
	run(b.base + "/dangling.json").ended()
	b.absent("nowhere")
	// An existing file is replaced.
	run(b.write("old.json", "old\n")).ended()
	if _, err := readRecord(b.base + "/old.json"); err != nil {
		t.Error(err)
	}
	must(t, os.Mkdir(b.base+"/folder", 0o755))
	for _, path := range []string{"", b.base + "/folder", b.base + "/folder/", b.base + "/missing/rec.json", target + "/rec.json"} {
		if r := run(path); r.code != 125 || r.out != "" || !strings.HasPrefix(r.err, "sbx: ") {
			t.Errorf("--effective %q: %v", path, r)
		}
	}
	b.absent("missing")
	if !isRoot() {
		must(t, os.Chmod(b.out, 0o555))
		if r := run(b.out + "/rec.json"); r.code != 125 || r.out != "" {
			t.Errorf("a directory that is not writable: %v", r)
		}
	}
	// $SBX_EFFECTIVE names the file, and the flag overrides it.
	b.env = append(b.env, "SBX_EFFECTIVE="+b.base+"/env.json")
	b.plain(sbxPath, "exec", "--spec-json", specNone, "--", "true")
	if _, err := readRecord(b.base + "/env.json"); err != nil {
		t.Error(err)
	}
	os.Remove(b.base + "/env.json")
	run(b.base + "/flag.json").ended()
	b.absent("env.json")
	if _, err := readRecord(b.base + "/flag.json"); err != nil {
		t.Error(err)
	}
	// A relative path is relative to the caller's directory.
	run("rel.json").ended()
	if _, err := readRecord(b.ws + "/rel.json"); err != nil {
		t.Error(err)
	}
}

func TestRefusalLeavesARecord(t *testing.T) {
	b := newBox(t)
	for _, c := range []struct {
		spec, field string
		argv        []string
		code        int
	}{
		{`{"limits":{"memory":"1GiB"},"access_mode":"read-only","working_dir":"/no/such"}`, "", []string{"true"}, 125},
		{`{"working_dir":"/no/such"}`, "working_dir", []string{"true"}, 125},
		{`{"acces_mode":"read-only"}`, "", []string{"true"}, 125},
		{`{"filesystem":{"read":["/no/such"]}}`, "filesystem.read", []string{"true"}, 125},
		{specNone, "", []string{"no-such-program"}, 127},
	} {
		r := b.run(c.spec, c.argv...)
		if r.code != c.code || r.rec.text("state") != "refused" || r.rec.text("error", "reason") == "" || r.rec["exit"] != nil {
			t.Errorf("%s: %v\nstate %q", c.spec, r, r.rec.text("state"))
		}
		if !strings.HasPrefix(r.rec.text("error", "field"), c.field) {
			t.Errorf("%s: the field is %q", c.spec, r.rec.text("error", "field"))
		}
	}
}

func TestLostRunIsShown(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	s := b.start(specWW, "/bin/sh", "-c", "echo ready; read x")
	s.expect("ready")
	if r := b.show(b.rec); !strings.Contains(r.out, "running") {
		t.Errorf("while it runs: %v", r)
	}
	must(t, s.cmd.Process.Signal(unix.SIGKILL))
	s.wait()
	if r, err := readRecord(b.rec); err != nil || r.text("state") != "running" {
		t.Errorf("the record itself: %v %v", r.text("state"), err)
	}
	if r := b.show(b.rec); !strings.Contains(r.out, "lost") || strings.Contains(r.out, ": running") {
		t.Errorf("after SIGKILL: %v", r)
	}
	// A later run with the same state directory finishes such a record.
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	cmd := b.command(ctx, specWW, "true")
	cmd.Args = []string{sbxPath, "exec", "--spec-json", specWW, "--", "/bin/sh", "-c", "echo ready; read x"}
	s = b.launch(cmd, cancel)
	s.expect("ready")
	must(t, cmd.Process.Signal(unix.SIGKILL))
	s.wait()
	b.plain(sbxPath, "exec", "--spec-json", specNone, "--", "sleep", "0.6")
	found, _ := filepath.Glob(b.base + "/state/sbx/runs/*/effective.json")
	lost := 0
	for _, f := range found {
		if r, _ := readRecord(f); r.text("state") == "lost" {
			lost++
		}
	}
	if lost != 1 {
		t.Errorf("%d of %d records are finished as lost", lost, len(found))
	}
}

func (b *box) show(path string) result {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, sbxPath, "show", path)
	cmd.Env, cmd.WaitDelay = b.env, 2*time.Second
	return b.finish(cmd) // the record stays: plain would remove it
}

func TestDigestIsOfTheCanonicalDocument(t *testing.T) {
	b := newBox(t)
	for _, doc := range []string{
		`{}`,
		`{ "environment" : {"set": {"Z":"1", "A":"two <&> words"}},   "best_effort": ["network"] }`,
		`{"working_dir":".","best_effort":["limits.memory","network"],"require_available":true}`,
		"{\n\t\"filesystem\": {\"hide\": [\"b\", \"a\"]}}",
	} {
		r := b.run(doc, "true")
		if r.code != 0 || r.rec.text("requested_digest") != digest(t, doc) {
			t.Errorf("%s: %q, want %q: %v", doc, r.rec.text("requested_digest"), digest(t, doc), r)
		}
		// The same document is read from a file.
		path := b.write("doc.json", doc)
		b.plain(sbxPath, "exec", "--spec", path, "--effective", b.base+"/other.json", "--", "true")
		if o, _ := readRecord(b.base + "/other.json"); o.text("requested_digest") != digest(t, doc) {
			t.Errorf("%s from a file: %q", doc, o.text("requested_digest"))
		}
	}
}

func TestRecordHoldsNoSecret(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	secret := fmt.Sprintf("hunter2-%d", time.Now().UnixNano())
	b.env = append(b.env, "GITHUB_TOKEN="+secret+"a", "PLAIN="+secret+"b")
	spec := `{"access_mode":"workspace-write","environment":{"pass":["*"],"set":{"DB_PASSWORD":"` + secret + `c","X":"` + secret + `d"}}}`
	r := b.run(spec, "/bin/sh", "-c", "echo $GITHUB_TOKEN $PLAIN $DB_PASSWORD $X; echo end", "sh",
		"--password="+secret+"e", "--token", secret+"f", "https://user:"+secret+"g@example.com/", "-H", "Authorization: Bearer "+secret+"h",
		"API_KEY="+secret+"i", "--plain").ended()
	if strings.Count(r.out, secret) != 4 {
		t.Errorf("control: the command has not all of them: %s", r.out)
	}
	text, err := os.ReadFile(b.rec)
	must(t, err)
	for _, c := range "abcdefghi" {
		if strings.Contains(string(text), secret+string(c)) {
			t.Errorf("%c is in the record", c)
		}
	}
	if !strings.Contains(string(text), "<redacted>") || !strings.Contains(string(text), "--plain") {
		t.Errorf("not the arguments: %s", text)
	}
	if got, want := r.rec.text("requested_digest"), digest(t, spec); got != want {
		t.Errorf("the digest is not over the original: %s", got)
	}
	if s := b.show(b.rec); strings.Contains(s.out, secret) {
		t.Errorf("show: %v", s)
	}
}

// On a host that supports everything, every request is enforced.
func TestEnforcementOnAHostWithEverything(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.write(b.out+"/f", "x")
	for _, c := range []struct {
		spec, mode string
		fields     []string
	}{
		{specRO, "read-only", []string{"access_mode", "network", "no_new_privs", "side_doors", "processes", "secrets", "private_folders"}},
		{specWW, "workspace-write", []string{"access_mode", "network", "no_new_privs", "side_doors", "processes", "secrets", "private_folders", "protected_names", "new_protected_names"}},
		{specWith(specWW, `"filesystem":{"write":[`+quoted(b.out)+`],"hide":["/opt"]},"environment":{"pass":["PATH"]},"syscalls":"default"`), "workspace-write",
			[]string{"access_mode", "filesystem.write", "filesystem.hide", "environment.pass"}},
	} {
		r := b.sh(c.spec, "true").ended()
		if r.rec.text("access_mode") != c.mode {
			t.Errorf("%s: access_mode %q", c.spec, r.rec.text("access_mode"))
		}
		for _, l := range r.rec.list("enforcement") {
			want := "enforced"
			if l.text("field") == "new_protected_names" {
				want = "guarded"
			}
			if l.text("status") != want {
				t.Errorf("%s: %v", c.spec, l)
			}
			if l.text("status") != "enforced" && l.text("reason") == "" {
				t.Errorf("%s: no reason: %v", c.spec, l)
			}
		}
		for _, f := range c.fields {
			if r.rec.status(f) == "" {
				t.Errorf("%s: no line for %s", c.spec, f)
			}
		}
	}
	if r := b.sh(specNone, "true").ended(); r.rec["access_mode"] != nil {
		t.Errorf("nothing constrained, and access_mode is %v", r.rec["access_mode"])
	}
	b.args = append(b.args, "--counter", "none")
	if r := b.sh(specNone, "true").ended(); r.rec["commands_used"] != nil || r.rec["turns_used"] != nil {
		t.Errorf("nobody counted, and it says %v %v", r.rec["commands_used"], r.rec["turns_used"])
	}
}

func TestRecordKeepsItsSchema(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	out := b.plain(sbxPath, "schema", "record")
	if out.code != 0 {
		t.Fatal(out)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out.out))
	must(t, err)
	c := jsonschema.NewCompiler()
	must(t, c.AddResource("record.json", doc))
	schema, err := c.Compile("record.json")
	must(t, err)
	must(t, os.Mkdir(b.ws+"/sub", 0o755))
	runs := 0
	check := func(what string, r result) {
		t.Helper()
		text, err := os.ReadFile(r.recPath)
		must(t, err)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		must(t, err)
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v\n%s", what, err, text)
		}
		runs++
	}
	for _, s := range eachSpec {
		check(s.name, b.sh(s.spec, "true").ended())
	}
	check("a signal", b.run(specWW, "/bin/sh", "-c", "kill -9 $$"))
	check("a refusal", b.run(`{"working_dir":"/no/such"}`, "true"))
	check("a planted name", b.sh(specWW, "mkdir -p sub/.git && echo x >sub/.git/config").ended())
	check("not found", b.run(specNone, "no-such-program"))
	check("a broken document", b.run(`{"acces_mode":1}`, "true"))
	// The control: a file that is not a record is rejected.
	for _, wrong := range []string{`{}`, `{"record_version":"1"}`, `[]`} {
		v, _ := jsonschema.UnmarshalJSON(strings.NewReader(wrong))
		if schema.Validate(v) == nil {
			t.Errorf("control: %s passes", wrong)
		}
	}
	if runs != 9 {
		t.Errorf("%d records were looked at", runs)
	}
}
