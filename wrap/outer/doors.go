package outer

import (
	"sbx/spec"
	"sbx/wrap"
)

// openDoors notes which side doors stay open where sbx itself would shut them: what
// Landlock alone can shut, and what lies in the hands of who starts the tool.
func (w *wrapper) openDoors() {
	w.masked()
	if !w.plan.Filter.On || w.name == nameSbx || w.name == nameNone || w.name == nameContainer { // whose Landlock and streams are its own
		return
	}
	if w.a.Resolved.Network == spec.NetworkHost {
		w.note(Lack{wrap.FieldSideDoors, "abstract sockets of the host's network can be connected to, which only Landlock denies"})
	}
	switch {
	case w.a.Supervised, w.image: // sbx has looked at them, or the client hands on bytes alone
	case w.name == "bwrap":
		w.note(Lack{wrap.FieldSideDoors, "every descriptor that is open where bwrap is started is the command's as well, and one of a directory leads out"})
	default:
		w.note(Lack{wrap.FieldSideDoors, "the descriptors 0 to 2 are handed on whatever they are, and one of a directory leads out"})
	}
}
