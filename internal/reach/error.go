package reach

// Error says what is wrong with a rule of network.allow.
type Error struct{ Why, Meant, Help string }

// Error returns the message on one line.
func (e *Error) Error() string {
	if e.Meant == "" {
		return e.Why
	}
	return e.Why + " (did you mean " + e.Meant + "?)"
}

// form is the Help of errors about the form of a rule.
const form = "as in example.com:443, *.example.com:443, 10.0.0.0/8:5432, [::1]:443, localhost:3000 or example.com:*"
