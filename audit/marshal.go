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
	w := recordWriter(slices.Grow(dst, 4<<10)) // what most records need
	w.Open('{')
	w.KeyInt("record_version", recordVersion)
	w.KeyStr("id", r.ID)
	w.KeyStr("state", r.state())
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
		w.Key("resolved")
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
	w.Key("sbx")
	w.Open('{')
	w.KeyStr("version", r.Version)
	w.Close('}')
	w.Close('}')
	return append(w.B, '\n')
}

// appendEffective writes the sandbox_effective object's own keys.
func (r *Record) appendEffective(w *writer) {
	w.keyOptList("tools_used", r.ToolsUsed)
	w.KeyText("access_mode", r.AccessMode.String())
	w.keyOptInt("turns_used", r.TurnsUsed)
	if r.Commands.Set {
		w.KeyInt("commands_used", int64(r.Commands.Value.Started))
	}
	list, omitted := r.Violations.List()
	w.Key("violations")
	w.Open('[')
	for i := range list {
		w.Row()
		list[i].append(w)
	}
	w.Close(']')
	if omitted > 0 {
		w.KeyInt("violations_omitted", int64(omitted))
	}
	if r.Connections != nil {
		r.Connections.append(w)
	}
	w.KeyList("observed_kinds", r.ObservedKinds)
	if len(r.ObservedFiles) > 0 {
		w.KeyList("observed_filesystem", r.ObservedFiles)
	}
}

func (r *Record) appendCommand(w *writer) {
	argv := r.Command.Argv
	w.Key("command")
	w.Open('{')
	w.KeyList("argv", redact.Args(argv[:min(len(argv), maxArgv)]))
	if n := len(argv) - maxArgv; n > 0 {
		w.KeyInt("argv_omitted", int64(n))
	}
	if asked := r.Command.Asked; len(asked) > 0 {
		w.KeyList("asked", redact.Args(asked[:min(len(asked), maxArgv)]))
	}
	w.KeyText("cwd", r.Command.Cwd)
	w.KeyText("executable", r.Command.Executable)
	w.Close('}')
}

func (r *Record) appendError(w *writer) {
	if r.Error == nil {
		return
	}
	w.Key("error")
	w.Open('{')
	w.KeyText("field", r.Error.Field)
	w.KeyText("on", r.Error.On)
	w.KeyStr("reason", r.Error.Reason)
	w.KeyText("help", r.Error.Help)
	w.Close('}')
}

// appendRequested writes the documents as they were written, and the digest
// of what they say. Where one of them could not be read, neither is known.
func (r *Record) appendRequested(w *writer) {
	w.KeyList("sources", r.Sources)
	if p := &r.Profile; p.Name != "" || p.Off {
		w.Key("profile")
		w.Open('{')
		w.KeyText("name", p.Name)
		w.KeyList("why", p.Why)
		if p.Off {
			w.Key("off")
			w.Bool(true)
		}
		w.Close('}')
	}
	if len(r.Warnings) > 0 {
		lines := make([]string, len(r.Warnings))
		for i := range r.Warnings {
			lines[i] = r.Warnings[i].String()
		}
		w.KeyList("warnings", lines)
	}
	if len(r.Documents) == 0 || len(r.Documents) < len(r.Sources) {
		return
	}
	var canonical []byte
	w.Key("requested")
	switch len(r.Documents) {
	case 1:
		w.B = appendDocument(w.B, r.Documents[0].Node())
		canonical = canonicalDocument(canonical, r.Documents[0])
	default:
		w.Open('[')
		for i, d := range r.Documents {
			w.Row()
			w.B = appendDocument(w.B, d.Node())
			if i > 0 {
				canonical = append(canonical, ',')
			}
			canonical = canonicalDocument(canonical, d)
		}
		w.Close(']')
		canonical = append(append([]byte{'['}, canonical...), ']')
	}
	w.KeyStr("requested_digest", digestHex(canonical))
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
	w.Key("backend")
	w.Open('{')
	w.KeyStr("asked", b.Asked)
	w.KeyText("used", b.Used)
	w.KeyText("version", b.Version)
	w.KeyText("image", b.Image)
	w.KeyText("reason", b.Reason)
	if len(b.Unseen) > 0 {
		w.KeyList("unseen", b.Unseen)
	}
	w.Close('}')
}

func (r *Record) appendEnforcement(w *writer) {
	w.Key("enforcement")
	w.Open('[')
	for i := range r.Enforcement {
		e := &r.Enforcement[i]
		w.Row()
		w.Open('{')
		w.KeyStr("field", string(e.Field))
		w.KeyStr("asked", e.Asked)
		w.KeyStr("status", e.Status.String())
		w.KeyText("by", e.By)
		w.KeyText("reason", e.Reason)
		w.Close('}')
	}
	w.Close(']')
}

func (r *Record) appendExit(w *writer) {
	if r.Exit == (Exit{}) {
		return
	}
	w.Key("exit")
	w.Open('{')
	w.keyOptInt("code", r.Exit.Code)
	w.keyOptInt("signal", r.Exit.Signal)
	w.KeyText("ended_by", r.Exit.EndedBy)
	w.Close('}')
}

func (r *Record) appendUsage(w *writer) {
	if r.Usage == (Usage{}) {
		return
	}
	w.Key("usage")
	w.Open('{')
	w.keyOpt("wall_ms", r.Usage.WallMS)
	w.keyOpt("user_ms", r.Usage.UserMS)
	w.keyOpt("system_ms", r.Usage.SystemMS)
	w.keyOpt("max_rss_bytes", r.Usage.MaxRSS)
	w.keyOpt("memory_peak_bytes", r.Usage.MemoryPeak)
	w.keyOpt("read_bytes", r.Usage.Read)
	w.keyOpt("written_bytes", r.Usage.Written)
	w.Close('}')
}

func (r *Record) appendHost(w *writer) {
	if r.Host == nil {
		return
	}
	w.Key("host")
	w.Open('{')
	w.KeyText("kernel", r.Host.Release)
	w.KeyText("arch", r.Host.Arch)
	w.KeyInt("landlock_abi", int64(r.Host.LandlockABI))
	if r.Rung.Set {
		w.KeyStr("rung", r.Rung.Value.String())
	}
	w.KeyInt("uid", int64(r.Host.UID))
	w.Close('}')
}

func (r *Record) appendSupervisor(w *writer) {
	p := r.Supervisor
	if p.PID > 0 {
		w.KeyInt("pid", int64(p.PID))
	}
	w.keyOpt("pid_start", p.Start)
	w.keyOpt("pid_namespace", p.Namespace)
	w.KeyText("boot_id", p.BootID)
}

// keyTime leaves the zero time out.
func (w *writer) keyTime(k string, t time.Time) {
	if t.IsZero() {
		return
	}
	w.Key(k)
	w.B = append(w.B, '"')
	w.B = t.UTC().AppendFormat(w.B, timeLayout)
	w.B = append(w.B, '"')
}

func (w *writer) keyOpt(k string, n spec.Opt[int64]) {
	if n.Set {
		w.KeyInt(k, n.Value)
	}
}
