package seccomp

import "golang.org/x/sys/unix"

// Seal says how memfd_create(2) is treated if only named files may be executed: a file in memory
// has no name, and Landlock does not restrict it.
type Seal uint8

// These are the seals.
const (
	SealNone   Seal = iota
	SealAsk         // a call without MFD_NOEXEC_SEAL goes to the supervisor, which makes the file with the seal (Linux 6.3)
	SealRefuse      // a call without MFD_NOEXEC_SEAL fails with EPERM
)

// String returns the seal's name in a plan.
func (s Seal) String() string { return [...]string{"none", "ask", "refuse"}[s] }

// seal returns the rule of Options.Seal.
func (o Options) seal() []Rule {
	r := Rule{Calls: []string{"memfd_create"}, Args: []Arg{{Index: 1, Op: MaskedEqual, Mask: unix.MFD_NOEXEC_SEAL}},
		Why: "a file in memory could be executed, whatever commands.allow says"}
	switch o.Seal {
	case SealAsk:
		r.Do = Action{Kind: KindNotify}
	case SealRefuse:
		r.Do = Fail(unix.EPERM)
	default:
		return nil
	}
	return []Rule{r}
}
