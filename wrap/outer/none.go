package outer

import "sbx/spec"

// noneTool runs the command as it is, without a sandbox. It exists so that a caller can choose
// it by name and the audit says so.
var noneTool = tool{name: nameNone, args: func(w *wrapper) { w.slot(SlotArgs, "") },
	cannot: func(w *wrapper, f spec.Field) string {
		r := w.a.Resolved
		if f == "access_mode" && !r.AccessMode.Guards() || f == "network.mode" && r.Network == spec.NetworkHost {
			return "" // the document requests nothing by it
		}
		return "it is not a sandbox"
	},
	without: []Lack{{"", "nothing is enforced: the command runs as it is"}}}
