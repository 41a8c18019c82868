package audit

import (
	"crypto/sha256"
	"slices"

	"sbx/internal/doc"
	"sbx/spec"
	"sbx/spec/redact"
	"sbx/wrap"
)

// AppendJSON appends the record, with a line for each key, each violation, each line of enforcement
// and each object of other lists.
func (r Record) AppendJSON(dst []byte) []byte {
	w := recordWriter(slices.Grow(dst, 4<<10)) // large enough for most records
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
	if r.Timeline != nil {
		r.Timeline.append(&w)
	}
	if r.Opened != nil {
		r.Opened.append(&w)
	}
	r.appendAgent(&w)
	r.appendError(&w)
	r.appendRequested(&w)
	if r.Resolved != nil {
		w.Key("resolved")
		appendResolved(&w, r.Resolved)
	}
	r.appendBackend(&w)
	if r.Container != nil {
		r.Container.append(&w)
	}
	r.appendEnforcement(&w)
	r.appendExit(&w)
	r.appendUsage(&w)
	r.appendHost(&w)
	r.appendArtifacts(&w)
	r.appendProtected(&w)
	r.appendSwept(&w)
	r.appendSupervisor(&w)
	w.KeyOpen("sbx", '{')
	w.KeyStr("version", r.Version)
	w.Close('}')
	w.Close('}')
	return append(w.B, '\n')
}

// appendEffective writes the keys of the object sandbox_effective.
func (r *Record) appendEffective(w *writer) {
	w.keyOptList("tools_used", r.ToolsUsed)
	w.KeyText("access_mode", r.AccessMode.String())
	keyOpt(w, "turns_used", r.TurnsUsed)
	if r.Commands.Set {
		w.KeyInt("commands_used", int64(r.Commands.Value.Started))
	}
	list, omitted := r.Violations.List()
	doc.Objects(&w.Writer, "violations", list, func(v *Violation) { v.append(w) })
	w.KeyCount("violations_omitted", int64(omitted))
	if r.Connections != nil {
		r.Connections.append(w)
	}
	if r.Broker != nil {
		r.Broker.append(w)
	}
	w.KeyList("observed_kinds", r.ObservedKinds)
	w.KeyTexts("observed_filesystem", r.ObservedFiles)
}

func (r *Record) appendCommand(w *writer) {
	argv := r.Command.Argv
	w.KeyOpen("command", '{')
	w.KeyList("argv", redact.Args(argv[:min(len(argv), maxArgv)]))
	if n := len(argv) - maxArgv; n > 0 {
		w.KeyInt("argv_omitted", int64(n))
	}
	if asked := r.Command.Asked; len(asked) > 0 {
		w.KeyList("asked", redact.Args(asked[:min(len(asked), maxArgv)]))
	}
	w.KeyText("cwd", r.Command.Cwd)
	w.KeyText("executable", r.Command.Executable)
	if r.Timeline != nil {
		w.KeyCount("pid", int64(r.Timeline.root))
	}
	w.Close('}')
}

func (r *Record) appendError(w *writer) {
	if r.Error == nil {
		return
	}
	w.KeyOpen("error", '{')
	w.KeyText("field", r.Error.Field)
	w.KeyText("on", r.Error.On)
	w.KeyStr("reason", r.Error.Reason)
	w.KeyText("help", r.Error.Help)
	w.Close('}')
}

// appendRequested writes the documents as they were written, and the digest of their content. If a
// document could not be read, it writes neither.
func (r *Record) appendRequested(w *writer) {
	w.KeyList("sources", r.Sources)
	if p := &r.Profile; p.Name != "" || p.Off {
		w.KeyOpen("profile", '{')
		w.KeyText("name", p.Name)
		w.KeyList("why", p.Why)
		w.KeyFlag("off", p.Off)
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
	return doc.Hex(sum[:])
}

func (r *Record) appendBackend(w *writer) {
	b := &r.Backend
	if b.Asked == "" {
		return
	}
	w.KeyOpen("backend", '{')
	w.KeyStr("asked", b.Asked)
	w.KeyText("used", b.Used)
	w.KeyText("version", b.Version)
	w.KeyText("image", b.Image)
	w.KeyText("reason", b.Reason)
	w.KeyTexts("unseen", b.Unseen)
	w.Close('}')
}

func (r *Record) appendEnforcement(w *writer) {
	doc.Objects(&w.Writer, "enforcement", r.Enforcement, func(e *wrap.Enforcement) {
		w.KeyStr("field", string(e.Field))
		w.KeyStr("asked", e.Asked)
		w.KeyStr("status", e.Status.String())
		w.KeyText("by", e.By)
		w.KeyText("reason", e.Reason)
	})
}

func (r *Record) appendExit(w *writer) {
	if r.Exit == (Exit{}) {
		return
	}
	w.KeyOpen("exit", '{')
	keyOpt(w, "code", r.Exit.Code)
	keyOpt(w, "signal", r.Exit.Signal)
	w.KeyText("ended_by", r.Exit.EndedBy)
	w.Close('}')
}

func (r *Record) appendUsage(w *writer) {
	if r.Usage == (Usage{}) {
		return
	}
	w.KeyOpen("usage", '{')
	keyOpt(w, "wall_ms", r.Usage.WallMS)
	keyOpt(w, "user_ms", r.Usage.UserMS)
	keyOpt(w, "system_ms", r.Usage.SystemMS)
	keyOpt(w, "max_rss_bytes", r.Usage.MaxRSS)
	keyOpt(w, "memory_peak_bytes", r.Usage.MemoryPeak)
	keyOpt(w, "read_bytes", r.Usage.Read)
	keyOpt(w, "written_bytes", r.Usage.Written)
	w.Close('}')
}

func (r *Record) appendHost(w *writer) {
	if r.Host == nil {
		return
	}
	w.KeyOpen("host", '{')
	w.KeyText("kernel", r.Host.Release)
	w.KeyText("arch", r.Host.Arch)
	w.KeyInt("landlock_abi", int64(r.Host.LandlockABI))
	if r.Rung.Set {
		w.KeyStr("rung", r.Rung.Value.String())
	}
	w.KeyText("container", r.Host.Container.Name)
	w.KeyInt("uid", int64(r.Host.UID))
	w.Close('}')
}

func (r *Record) appendSupervisor(w *writer) {
	p := r.Supervisor
	w.KeyCount("pid", int64(p.PID))
	keyOpt(w, "pid_start", p.Start)
	keyOpt(w, "pid_namespace", p.Namespace)
	w.KeyText("boot_id", p.BootID)
}
