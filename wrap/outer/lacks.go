package outer

import (
	"slices"

	"sbx/spec"
	"sbx/wrap"
)

// openDoors notes the side doors that sbx would shut and the tool leaves open: those that only
// Landlock shuts, and descriptors that the tool's caller hands on.
func (w *wrapper) openDoors() {
	w.masked()
	if !w.plan.Filter.On || w.name == nameSbx || w.name == nameNone || w.name == nameContainer { // sbx shuts them itself, none shuts nothing
		return
	}
	if w.a.Resolved.Network == spec.NetworkHost {
		w.note(Lack{wrap.FieldSideDoors, "abstract sockets of the host's network can be connected to, which only Landlock denies"})
	}
	switch {
	case w.a.Supervised, w.image: // sbx has checked the descriptors, or the client passes on bytes alone
	case w.name == "bwrap":
		w.note(Lack{wrap.FieldSideDoors, "every descriptor that is open where bwrap is started is the command's as well, and one of a directory leads out"})
	default:
		w.note(Lack{wrap.FieldSideDoors, "the descriptors 0 to 2 are handed on whatever they are, and one of a directory leads out"})
	}
}

// supervisedLacks lists the restrictions of w.without that the documents ask for and that no sbx
// outside makes up for.
func (w *wrapper) supervisedLacks() []Lack {
	why := ""
	switch names, sockets := len(w.plan.Watch.Trees) > 0, w.a.Resolved.Network != spec.NetworkHost; {
	case w.a.Supervised:
	case names && sockets:
		why = noWatch + "; " + noSockets
	case names:
		why = noWatch
	case sockets:
		why = noSockets
	}
	lacks := slices.Clone(w.without)
	for i := range lacks {
		if lacks[i].Field == wrap.FieldProtected {
			lacks[i].Why = why
		}
	}
	return slices.DeleteFunc(lacks, func(l Lack) bool { return l.Why == "" })
}

// masked notes secrets that are hidden by a mount on the file itself.
func (w *wrapper) masked() {
	secret := func(path string) bool {
		return slices.ContainsFunc(w.a.Host.Secrets, func(s wrap.Found) bool { return s.Real == path })
	}
	if !w.a.Supervised && w.name != nameSbx && w.name != nameContainer && slices.ContainsFunc(w.plan.Watch.Masked, secret) {
		w.note(Lack{wrap.FieldSecrets, "some hidden files are masked, each by a mount on it: one that the host replaces shows"})
	}
}

// unsupervised returns why a tool that only makes namespaces and mounts cannot enforce a field.
func unsupervised(w *wrapper, f spec.Field) string {
	switch {
	case f.In("limits") && !w.a.Supervised:
		return w.name + " has no such limit"
	case f == "limits.pids" && w.a.Host.Groups[wrap.PIDs].State != wrap.Yes:
		return "no control group can be made to count in: " + w.a.Host.Groups[wrap.PIDs].Why
	case f == "commands.allow":
		return w.name + " has no rule about which files are executed"
	case f == "syscalls" && w.a.FilterFD != 0:
		return ""
	case f == "syscalls":
		return w.name + " takes no list of system calls on a command line"
	}
	return unwatched(w, f)
}

// unwatched returns why a field cannot be enforced without a supervisor, which only sbx has.
func unwatched(w *wrapper, f spec.Field) string {
	switch {
	case f == "max_commands":
		return w.name + " counts no programs"
	case f == "max_turns", f == "tools_allowed", f == "tools_denied":
		return w.name + " reads no agent's stream"
	}
	return ""
}

// The restrictions that no other tool enforces: noWatch matters where names are protected,
// noSockets where the network is not the host's.
const (
	noWatch   = "protected names that exist are read-only; the creation of others is neither denied nor noticed"
	noSockets = "a socket that is made outside afterwards can be connected to by its path"
)
