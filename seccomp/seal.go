package seccomp

import "golang.org/x/sys/unix"

// Seal says what becomes of memfd_create(2) where only named files may be
// executed: a file that lies in memory has no name, and Landlock lets it be.
type Seal uint8

// The seals.
const (
	SealNone   Seal = iota
	SealAsk         // without MFD_NOEXEC_SEAL the supervisor makes it, with the seal (Linux 6.3)
	SealRefuse      // without MFD_NOEXEC_SEAL it is EPERM
)

// String is the seal's name in a plan.
func (s Seal) String() string { return [...]string{"none", "ask", "refuse"}[s] }

// seal is the rule of Options.Seal.
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
