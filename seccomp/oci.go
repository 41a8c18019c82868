package seccomp

import (
	"errors"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/doc"
)

// Conditions are the facts by which a profile's includes and excludes are resolved.
type Conditions struct {
	Caps   []string // the capabilities in force, as in "CAP_CHOWN"
	Arch   Arch
	Kernel [2]int // the running kernel's version and patch level, as in {6, 18}
}

// Profile reads a seccomp profile in the OCI runtime's or in Docker's format
// (https://github.com/opencontainers/runtime-spec, config-linux.md). Docker's conditions are
// resolved for h. An error is a *doc.Error: for invalid JSON, an unknown or repeated field, a value
// of the wrong type, an action or an operator that does not exist, a denial of a call that does not
// exist, and for NOTIFY and TRACE, which sbx does not support because it is the supervisor itself.
//
// Where the format is ambiguous, Profile reads it as follows:
//
//   - Arguments are compared in all 64 bits, as libseccomp does. The side doors, which
//     WithSideDoors adds, are not.
//   - Of several rules about one call, the strictest that matches wins. In libseccomp a
//     rule without arguments hides all others about its call.
//   - A rule with two conditions on one argument becomes a rule for each condition, as
//     in runc.
//   - A name that no Linux has is an error in a rule that denies. A rule that allows may
//     name calls that are newer than the tables here; they stay denied, with ENOSYS.
//   - The spelling of architectures other than h.Arch is checked; otherwise they are
//     ignored, and their entries stay closed.
func Profile(name string, text []byte, h Conditions) (Filter, error) {
	if !h.Arch.valid() {
		return Filter{}, &doc.Error{Name: name, Why: "no filter can be made for this architecture"}
	}
	root, err := doc.ParseJSON(name, text)
	if err != nil {
		return Filter{}, err
	}
	d := document{name: name, h: h}
	f := Filter{Name: name, Default: d.profile(root)}
	if d.err != nil {
		return Filter{}, d.err
	}
	f.Rules = d.rules
	return f, nil
}

// action reads an action and its errno. fallback is the errno of ERRNO if the profile gives none.
func action(name string, errno *uint64, fallback uint16) (Action, error) {
	a := Action{}
	switch name {
	case "SCMP_ACT_ALLOW":
		a.Kind = Allow
	case "SCMP_ACT_LOG":
		a.Kind = Log
	case "SCMP_ACT_ERRNO":
		a = Action{Kind: Errno, Errno: fallback}
	case "SCMP_ACT_TRAP":
		a.Kind = Trap
	case "SCMP_ACT_KILL", "SCMP_ACT_KILL_THREAD":
		a.Kind = KillThread
	case "SCMP_ACT_KILL_PROCESS":
		a.Kind = KillProcess
	case "SCMP_ACT_NOTIFY":
		return a, errors.New("SCMP_ACT_NOTIFY needs a supervisor of the profile's own, and a filter can have only one: sbx's")
	case "SCMP_ACT_TRACE":
		return a, errors.New("SCMP_ACT_TRACE needs a tracer of the profile's own, which sbx does not start")
	default:
		return a, errors.New(strconv.Quote(name) + " is not an action")
	}
	switch {
	case errno == nil:
	case a.Kind != Errno:
		return a, errors.New("only SCMP_ACT_ERRNO has an errno")
	case *errno == 0 || *errno > maxErrno:
		return a, errors.New("an errno lies between 1 and 4095")
	default:
		a.Errno = uint16(*errno)
	}
	return a, nil
}

// opNamed returns the comparison that has this name in a profile.
func opNamed(name string) (Op, bool) {
	for o := Equal; o <= MaskedEqual; o++ {
		if ops[o] == name {
			return o, true
		}
	}
	return 0, false
}

// architectures are the names that profiles may use.
var architectures = [...]string{
	"SCMP_ARCH_NATIVE", "SCMP_ARCH_X86", "SCMP_ARCH_X86_64", "SCMP_ARCH_X32", "SCMP_ARCH_ARM",
	"SCMP_ARCH_AARCH64", "SCMP_ARCH_LOONGARCH64", "SCMP_ARCH_M68K", "SCMP_ARCH_MIPS",
	"SCMP_ARCH_MIPS64", "SCMP_ARCH_MIPS64N32", "SCMP_ARCH_MIPSEL", "SCMP_ARCH_MIPSEL64",
	"SCMP_ARCH_MIPSEL64N32", "SCMP_ARCH_PARISC", "SCMP_ARCH_PARISC64", "SCMP_ARCH_PPC",
	"SCMP_ARCH_PPC64", "SCMP_ARCH_PPC64LE", "SCMP_ARCH_RISCV64", "SCMP_ARCH_S390",
	"SCMP_ARCH_S390X", "SCMP_ARCH_SH", "SCMP_ARCH_SHEB",
}

// flags are the flags that a profile may request: sbx's way of loading implies them or makes them
// unnecessary. The filter is loaded before the command has a thread, and the protection that
// SPEC_ALLOW would switch off stays on, which is stricter.
var flags = [...]string{"", "SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_SPEC_ALLOW"}

// applies reports whether a rule with these conditions is in force.
func (h Conditions) applies(includes, excludes *conditions) bool {
	if x := excludes; x != nil {
		if slices.Contains(x.arches, h.Arch.String()) || x.kernel != nil && h.atLeast(*x.kernel) {
			return false
		}
		if slices.ContainsFunc(x.caps, func(c string) bool { return slices.Contains(h.Caps, c) }) {
			return false
		}
	}
	if n := includes; n != nil {
		if len(n.arches) > 0 && !slices.Contains(n.arches, h.Arch.String()) || n.kernel != nil && !h.atLeast(*n.kernel) {
			return false
		}
		if slices.ContainsFunc(n.caps, func(c string) bool { return !slices.Contains(h.Caps, c) }) {
			return false
		}
	}
	return true
}

// atLeast reports whether the running kernel is v or newer.
func (h Conditions) atLeast(v [2]int) bool {
	return h.Kernel[0] > v[0] || h.Kernel[0] == v[0] && h.Kernel[1] >= v[1]
}

// eperm is the errno if a profile gives none.
const eperm = uint16(unix.EPERM)
