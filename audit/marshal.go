package audit

import (
	"crypto/sha256"
	"slices"
	"time"

	"sbx/spec"
	"sbx/spec/redact"
)

// timeLayout is RFC 3339 in UTC, to the millisecond.
const timeLayout = "2006-01-02T15:04:05.000Z"

// AppendJSON appends the record: a line for each key, violations, lines of
// enforcement and other lists of objects a line each.
func (r Record) AppendJSON(dst []byte) []byte {
	w := writer{b: slices.Grow(dst, 4<<10)} // what most records need
	w.open('{')
	w.keyNum("record_version", recordVersion)
	w.keyStr("id", r.ID)
	w.keyStr("state", r.state())
	r.appendEffective(&w)
	w.keyTime("started_at", r.StartedAt)
	w.keyTime("ended_at", r.EndedAt)
	r.appendCommand(&w)
	if r.Commands.Set {
		r.Commands.Value.append(&w)
	}
	r.appendAgent(&w)
	r.appendError(&w)
	r.appendRequested(&w)
	if r.Resolved != nil {
		w.key("resolved")
		appendResolved(&w, r.Resolved)
	}
	r.appendBackend(&w)
	r.appendEnforcement(&w)
	r.appendExit(&w)
	r.appendUsage(&w)
	r.appendHost(&w)
	r.appendArtifacts(&w)
	r.appendProtected(&w)
	r.appendSwept(&w)
	r.appendSupervisor(&w)
	w.key("sbx")
	w.open('{')
	w.keyStr("version", r.Version)
	w.close('}')
	w.close('}')
	return append(w.b, '\n')
}

// appendEffective writes the sandbox_effective object's own keys.
func (r *Record) appendEffective(w *writer) {
	w.keyOptList("tools_used", r.ToolsUsed)
	w.keyText("access_mode", r.AccessMode.String())
	w.keyOptInt("turns_used", r.TurnsUsed)
	if r.Commands.Set {
		w.keyNum("commands_used", int64(r.Commands.Value.Started))
	}
	list, omitted := r.Violations.List()
	w.key("violations")
	w.open('[')
	for i := range list {
		w.line()
		list[i].append(w)
	}
	w.close(']')
	if omitted > 0 {
		w.keyNum("violations_omitted", int64(omitted))
	}
	w.keyList("observed_kinds", r.ObservedKinds)
	if len(r.ObservedFiles) > 0 {
		w.keyList("observed_filesystem", r.ObservedFiles)
	}
}

func (r *Record) appendCommand(w *writer) {
	argv := r.Command.Argv
	w.key("command")
	w.open('{')
	w.keyList("argv", redact.Args(argv[:min(len(argv), maxArgv)]))
	if n := len(argv) - maxArgv; n > 0 {
		w.keyNum("argv_omitted", int64(n))
	}
	if asked := r.Command.Asked; len(asked) > 0 {
		w.keyList("asked", redact.Args(asked[:min(len(asked), maxArgv)]))
	}
	w.keyText("cwd", r.Command.Cwd)
	w.keyText("executable", r.Command.Executable)
	w.close('}')
}

func (r *Record) appendError(w *writer) {
	if r.Error == nil {
		return
	}
	w.key("error")
	w.open('{')
	w.keyText("field", r.Error.Field)
	w.keyText("on", r.Error.On)
	w.keyStr("reason", r.Error.Reason)
	w.keyText("help", r.Error.Help)
	w.close('}')
}

// appendRequested writes the documents as they were written, and the digest
// of what they say. Where one of them could not be read, neither is known.
func (r *Record) appendRequested(w *writer) {
	w.keyList("sources", r.Sources)
	if p := &r.Profile; p.Name != "" || p.Off {
		w.key("profile")
		w.open('{')
		w.keyText("name", p.Name)
		w.keyList("why", p.Why)
		if p.Off {
			w.key("off")
			w.bool(true)
		}
		w.close('}')
	}
	if len(r.Warnings) > 0 {
		lines := make([]string, len(r.Warnings))
		for i := range r.Warnings {
			lines[i] = r.Warnings[i].String()
		}
		w.keyList("warnings", lines)
	}
	if len(r.Documents) == 0 || len(r.Documents) < len(r.Sources) {
		return
	}
	var canonical []byte
	w.key("requested")
	switch len(r.Documents) {
	case 1:
		w.b = appendDocument(w.b, r.Documents[0].Node())
		w.comma = true
		canonical = canonicalDocument(canonical, r.Documents[0])
	default:
		w.open('[')
		for i, d := range r.Documents {
			w.line()
			w.b = appendDocument(w.b, d.Node())
			w.comma = true
			if i > 0 {
				canonical = append(canonical, ',')
			}
			canonical = canonicalDocument(canonical, d)
		}
		w.close(']')
		canonical = append(append([]byte{'['}, canonical...), ']')
	}
	w.keyStr("requested_digest", digestHex(canonical))
}

func appendDocument(dst []byte, n *spec.Node) []byte {
	if n == nil {
		return append(dst, "{}"...)
	}
	return n.AppendJSON(dst, spec.IsSecretPath)
}

func canonicalDocument(dst []byte, d *spec.SandboxSpec) []byte {
	n := d.Node()
	if n == nil {
		return append(dst, "{}"...)
	}
	return n.AppendCanonical(dst)
}

func digestHex(b []byte) string {
	sum := sha256.Sum256(b)
	return hexOf(string(sum[:]))
}

func (r *Record) appendBackend(w *writer) {
	b := &r.Backend
	if b.Asked == "" {
		return
	}
	w.key("backend")
	w.open('{')
	w.keyStr("asked", b.Asked)
	w.keyText("used", b.Used)
	w.keyText("version", b.Version)
	w.keyText("image", b.Image)
	w.keyText("reason", b.Reason)
	if len(b.Unseen) > 0 {
		w.keyList("unseen", b.Unseen)
	}
	w.close('}')
}

func (r *Record) appendEnforcement(w *writer) {
	w.key("enforcement")
	w.open('[')
	for i := range r.Enforcement {
		e := &r.Enforcement[i]
		w.line()
		w.open('{')
		w.keyStr("field", string(e.Field))
		w.keyStr("asked", e.Asked)
		w.keyStr("status", e.Status.String())
		w.keyText("by", e.By)
		w.keyText("reason", e.Reason)
		w.close('}')
	}
	w.close(']')
}

func (r *Record) appendExit(w *writer) {
	if r.Exit == (Exit{}) {
		return
	}
	w.key("exit")
	w.open('{')
	w.keyOptInt("code", r.Exit.Code)
	w.keyOptInt("signal", r.Exit.Signal)
	w.keyText("ended_by", r.Exit.EndedBy)
	w.close('}')
}

func (r *Record) appendUsage(w *writer) {
	if r.Usage == (Usage{}) {
		return
	}
	w.key("usage")
	w.open('{')
	w.keyOpt("wall_ms", r.Usage.WallMS)
	w.keyOpt("user_ms", r.Usage.UserMS)
	w.keyOpt("system_ms", r.Usage.SystemMS)
	w.keyOpt("max_rss_bytes", r.Usage.MaxRSS)
	w.keyOpt("memory_peak_bytes", r.Usage.MemoryPeak)
	w.keyOpt("read_bytes", r.Usage.Read)
	w.keyOpt("written_bytes", r.Usage.Written)
	w.close('}')
}

func (r *Record) appendHost(w *writer) {
	if r.Host == nil {
		return
	}
	w.key("host")
	w.open('{')
	w.keyText("kernel", r.Host.Release)
	w.keyText("arch", r.Host.Arch)
	w.keyNum("landlock_abi", int64(r.Host.LandlockABI))
	if r.Rung.Set {
		w.keyStr("rung", r.Rung.Value.String())
	}
	w.keyNum("uid", int64(r.Host.UID))
	w.close('}')
}

func (r *Record) appendSupervisor(w *writer) {
	p := r.Supervisor
	if p.PID > 0 {
		w.keyNum("pid", int64(p.PID))
	}
	w.keyOpt("pid_start", p.Start)
	w.keyOpt("pid_namespace", p.Namespace)
	w.keyText("boot_id", p.BootID)
}

// keyTime leaves the zero time out.
func (w *writer) keyTime(k string, t time.Time) {
	if t.IsZero() {
		return
	}
	w.key(k)
	w.b = append(w.b, '"')
	w.b = t.UTC().AppendFormat(w.b, timeLayout)
	w.b = append(w.b, '"')
	w.comma = true
}

func (w *writer) keyOpt(k string, n spec.Opt[int64]) {
	if n.Set {
		w.keyNum(k, n.Value)
	}
}
