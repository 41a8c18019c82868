//go:build oracle && cgo

package seccomp

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	docker "github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"github.com/seccomp/libseccomp-golang"
	"golang.org/x/sys/unix"
)

func TestOracleDefault(t *testing.T) {
	for _, o := range Variants() {
		f := Default(o)
		for _, a := range bothArches {
			theirs, unknown := chain(t, f, a)
			if a == Native && len(unknown) > 0 || len(unknown) > 60 {
				t.Fatalf("%v: libseccomp does not know %v", a, unknown)
			}
			if o == (Options{}) {
				t.Logf("%v: not compared, since libseccomp does not know them: %v", a, unknown)
			}
			ours := decode(Shipped(o, a))
			compared := 0
			for _, nr := range numbers() {
				name, known := a.Name(nr)
				if !known || slices.Contains(unknown, name) {
					continue // TestUnknownNumbers covers numbers without a name
				}
				for c := range each(f, a, nr) {
					compared++
					want, got := strictest(theirs, c), Run(ours, c)
					if want.Kind == Errno && got.Kind == Errno && refusedTwice(f, name) {
						want = got // with two errnos the order decides, about which libseccomp says nothing
					}
					if got != want {
						t.Fatalf("%v %+v: %s %#x: %v, libseccomp says %v", a, o, name, c.Args, got, want)
					}
				}
			}
			if compared < 300 {
				t.Errorf("%v %+v: only %d calls were compared", a, o, compared)
			}
			if v := strictest(theirs, Call{Arch: unix.AUDIT_ARCH_I386, Nr: 1}); v.Kind != KillProcess {
				t.Errorf("libseccomp says %v of another architecture", v)
			}
		}
	}
}

// refusedTwice reports whether rules with different errnos name the call.
func refusedTwice(f Filter, name string) bool {
	var errnos []uint16
	for _, r := range f.Rules {
		if r.Do.Kind == Errno && slices.Contains(r.Calls, name) && !slices.Contains(errnos, r.Do.Errno) {
			errnos = append(errnos, r.Do.Errno)
		}
	}
	return len(errnos) > 1
}

// The names and numbers are those of libseccomp, as far as it knows them.
func TestOracleTables(t *testing.T) {
	for _, a := range bothArches {
		agreed := 0
		for nr, name := range arches[a].byNumber {
			if name == "" {
				continue
			}
			call, err := seccomp.GetSyscallFromNameByArch(name, scmpArch[a])
			if errors.Is(err, seccomp.ErrSyscallDoesNotExist) || err == nil && int(call) < 0 {
				continue
			}
			if err != nil || int(call) != nr {
				t.Errorf("%v: %s is %d, libseccomp says %d (%v)", a, name, nr, call, err)
			}
			agreed++
		}
		if agreed < 290 {
			t.Errorf("%v: libseccomp knows only %d of the names", a, agreed)
		}
	}
}

// Docker's own profile, resolved by Docker's own code and compiled by libseccomp as runc does,
// gives the same verdicts as Profile and Program.
func TestOracleDocker(t *testing.T) {
	doc, err := json.Marshal(docker.DefaultProfile())
	must(t, err)
	for _, caps := range [][]string{nil, {"CAP_SYS_ADMIN"}, {"CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_SYS_TIME", "CAP_BPF"}, {"CAP_SYS_NICE", "CAP_SYSLOG", "CAP_SYS_CHROOT", "CAP_SYS_BOOT"}} {
		resolved, err := docker.GetDefaultProfile(&specs.Spec{Process: &specs.Process{Capabilities: &specs.LinuxCapabilities{Bounding: caps}}})
		must(t, err)
		s := newFilter(t, Fail(unix.Errno(*resolved.DefaultErrnoRet)), Native)
		ours, err := Profile("docker.json", doc, Conditions{Caps: caps, Arch: Native, Kernel: kernel(t)})
		must(t, err)
		for _, rule := range resolved.Syscalls {
			a, err := action(string(rule.Action), nil, eperm)
			must(t, err)
			if rule.ErrnoRet != nil {
				a.Errno = uint16(*rule.ErrnoRet)
			}
			for _, name := range rule.Names {
				nr, ok := Native.Number(name)
				if !ok {
					continue
				}
				var conds []seccomp.ScmpCondition
				for _, g := range rule.Args {
					op, ok := opNamed(string(g.Op))
					if !ok {
						t.Fatalf("%s is no comparison", g.Op)
					}
					c := seccomp.ScmpCondition{Argument: g.Index, Op: scmpOp[op], Operand1: g.Value, Operand2: g.ValueTwo}
					if op == MaskedEqual {
						c.Op = seccomp.CompareMaskedEqual
					}
					conds = append(conds, c)
				}
				if len(conds) == 0 {
					must(t, s.AddRule(seccomp.ScmpSyscall(nr), scmpAction(a)))
				} else {
					must(t, s.AddRuleConditional(seccomp.ScmpSyscall(nr), scmpAction(a), conds))
				}
			}
		}
		theirs := export(t, s)
		prog := program(t, ours, Native)
		for _, nr := range numbers() {
			name, known := Native.Name(nr)
			if !known {
				continue
			}
			for c := range each(ours, Native, nr) {
				if got, want := Run(prog, c), Run(theirs, c); got != want {
					t.Errorf("caps %v: %s %#x: %v, libseccomp says %v", caps, name, c.Args, got, want)
				}
			}
		}
		t.Logf("caps %v: %d instructions, libseccomp's have %d", caps, len(prog), len(theirs))
	}
}

// kernel returns the version of the running kernel, with which Docker's code resolves conditions.
func kernel(t *testing.T) [2]int {
	t.Helper()
	var u unix.Utsname
	must(t, unix.Uname(&u))
	var v [2]int
	i := 0
	for _, c := range u.Release {
		if c < '0' || c > '9' {
			if i++; i == 2 {
				break
			}
			continue
		}
		v[i] = 10*v[i] + int(c-'0')
	}
	return v
}

// Random filters with one verdict besides the default, and with wide and narrow conditions, give
// the same verdicts as libseccomp. Each list of conditions is a filter of libseccomp of its own,
// because from several about one call it makes a tree. In 2.5.4 that tree takes arg0 < N with a
// mask on arg1 for more than was requested, if another rule compares arg0, too.
func TestOracleConditions(t *testing.T) {
	r := newRandom()
	for range 100 {
		f := Filter{Name: "random", Default: Action{Kind: Allow}}
		for range 1 + r.IntN(4) {
			rule := Rule{Calls: []string{"ioctl"}, Do: Fail(unix.EACCES)}
			for i := range 1 + r.IntN(3) {
				g := randomArg(r)
				g.Index = i // libseccomp takes one condition for an argument
				rule.Args = append(rule.Args, g)
			}
			if len(conditionsOf(rule.Args)) > 300 {
				continue // two low words that must differ from a value need too many blocks
			}
			f.Rules = append(f.Rules, rule)
		}
		prog := program(t, f, Native)
		nr, _ := Native.Number("ioctl")
		var theirs [][]unix.SockFilter
		for _, rule := range f.Rules {
			for _, conds := range conditionsOf(rule.Args) {
				s := newFilter(t, f.Default, Native)
				must(t, s.AddRuleConditional(seccomp.ScmpSyscall(nr), scmpAction(rule.Do), conds))
				theirs = append(theirs, export(t, s))
			}
		}
		n := 0
		for c := range each(f, Native, nr) {
			if got, want := Run(prog, c), strictest(theirs, c); got != want {
				t.Fatalf("%+v: %#x: %v, libseccomp says %v", f.Rules, c.Args, got, want)
			}
			if n++; n == 2000 {
				break
			}
		}
	}
}

// newRandom returns a source that gives the same numbers each time.
func newRandom() *rand.Rand { return rand.New(rand.NewPCG(5, 6)) }
