package profile

import "strings"

// SwitchName is the variable that turns profiles off, for debugging.
const SwitchName = "ORCHESTRATOR_SANDBOX_ENABLED"

// Switch is the meaning of that variable's value.
type Switch struct {
	Off  bool
	Note string // a note for the user; "" for none
}

// ReadSwitch reads the switch's value. Only false turns profiles off. A value that is neither true
// nor false keeps them on, and the note says so.
func ReadSwitch(value string) Switch {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "true":
		return Switch{}
	case "false":
		return Switch{Off: true, Note: SwitchName + "=false: profiles are off"}
	}
	return Switch{Note: SwitchName + " is neither true nor false: profiles stay on"}
}
