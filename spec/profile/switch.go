package profile

import "strings"

// SwitchName is the variable that turns profiles off, for debugging.
const SwitchName = "ORCHESTRATOR_SANDBOX_ENABLED"

// Switch is what that variable says.
type Switch struct {
	Off  bool
	Note string // what to tell of it; "" for nothing
}

// ReadSwitch reads the switch's value. Only false turns profiles off: whoever
// writes anything else is told, and keeps them.
func ReadSwitch(value string) Switch {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "true":
		return Switch{}
	case "false":
		return Switch{Off: true, Note: SwitchName + "=false: profiles are off"}
	}
	return Switch{Note: SwitchName + " is neither true nor false: profiles stay on"}
}
