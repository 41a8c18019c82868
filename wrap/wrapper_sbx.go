package wrap

import "sbx/spec"

// sbxTool is sbx itself, which holds every field and looks at the host anew when
// the command is started.
var sbxTool = tool{name: nameSbx, args: sbxArgs, cannot: func(w *wrapper, f spec.Field) string {
	if f == "syscalls" && len(w.a.Resolved.MoreSyscalls) > 0 {
		return "one document has one list of system calls"
	}
	return ""
}}

// sbxDocument is where the line has the spec.
const sbxDocument = 2

func sbxArgs(w *wrapper) {
	r := w.a.Resolved
	w.add("exec", "--spec-json", string(r.Document().AppendJSON(nil, nil)))
	if j := r.Job; j != nil {
		if j.Input.Real != "" {
			w.add("--input", j.Input.Real)
		}
		if j.Output.Real != "" {
			w.add("--output", j.Output.Real)
		}
	}
	w.add("--")
	w.slot(SlotCmd, "")
	w.slot(SlotArgs, "")
}
