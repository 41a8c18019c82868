package seccomp

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

var kafelOptions = []Options{{}, {Root: true}, {Unix: true}, {Root: true, Unix: true}, {NoInet: true, Unix: true}, {Unix: true, Seal: SealRefuse}, {Unix: true, NoFastOpen: true}}

// The policy gives the same verdict on every call as the default filter, whatever the arguments.
func TestKafelIsTheDefaultFilter(t *testing.T) {
	for _, a := range bothArches {
		for _, o := range kafelOptions {
			f, policy := Default(o), readKafel(t, string(AppendKafel(nil, o, a)))
			for _, nr := range numbers() {
				for c := range each(f, a, nr) {
					if got, want := policy.verdict(c), verdictOf(f, c); got != want {
						t.Fatalf("%v %+v: call %d%#x is %s, want %s", a, o, nr, c.Args, got, want)
					}
				}
			}
		}
	}
}

func verdictOf(f Filter, c Call) string {
	do, _ := f.Verdict(c)
	return kafelAction(do)
}

// kafelPolicy is a policy that was read back: the first rule that matches wins.
type kafelPolicy struct {
	rules map[uint32][]kafelRule
	rest  string
}

type kafelRule struct {
	do    string
	tests []func(args [6]uint64) bool
}

func (p kafelPolicy) verdict(c Call) string {
rules:
	for _, r := range p.rules[c.Nr] {
		for _, holds := range r.tests {
			if !holds(c.Args) {
				continue rules
			}
		}
		return r.do
	}
	return p.rest
}

var (
	kafelBlock = regexp.MustCompile(`(ALLOW|ERRNO\(\d+\))\{((?:[^{}]|\{[^{}]*\})*)\} `)
	kafelCall  = regexp.MustCompile(`SYSCALL\[(\d+)\](?:\(([a-f,]+)\)\{([^}]*)\})?(,|$)`)
	kafelOne   = regexp.MustCompile(`^\(([a-f])&(0x[0-9a-f]+)\)(==|!=)(0x[0-9a-f]+)$`)
)

func readKafel(t *testing.T, text string) kafelPolicy {
	t.Helper()
	p := kafelPolicy{rules: map[uint32][]kafelRule{}}
	number := func(s string) uint64 {
		n, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	left := text
	for _, b := range kafelBlock.FindAllStringSubmatch(text, -1) {
		left = strings.Replace(left, b[0], "", 1)
		rules := b[2]
		for _, c := range kafelCall.FindAllStringSubmatch(b[2], -1) {
			rules = strings.Replace(rules, c[0], "", 1)
			r := kafelRule{do: b[1]}
			for _, test := range strings.Split(c[3], "&&") {
				m := kafelOne.FindStringSubmatch(test)
				if m == nil {
					if test != "" {
						t.Fatalf("%q is no condition", test)
					}
					continue
				}
				index, mask, value := strings.Index(kafelNames, m[1]), number(m[2]), number(m[4])
				if !strings.Contains(c[2], m[1]) {
					t.Fatalf("%q is not declared by %q", m[1], c[2])
				}
				r.tests = append(r.tests, func(args [6]uint64) bool { return (args[index]&mask == value) == (m[3] == "==") })
			}
			nr := uint32(number(c[1]))
			p.rules[nr] = append(p.rules[nr], r)
		}
		if rules != "" {
			t.Fatalf("%q is no rule", rules)
		}
	}
	rest, ok := strings.CutPrefix(left, "DEFAULT ")
	if !ok {
		t.Fatalf("%q is no default", left)
	}
	p.rest = rest
	return p
}

// nsjail compiles the policy to a program that gives the verdict of the default filter on every
// call. strace prints the program that the kernel gets.
func TestNsjailCompilesTheDefaultFilter(t *testing.T) {
	nsjail, err := exec.LookPath("nsjail")
	if err != nil {
		t.Skip("nsjail is not installed")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	for _, o := range kafelOptions {
		out := filepath.Join(t.TempDir(), "strace")
		cmd := exec.Command(strace, "-f", "-qq", "-e", "trace=prctl,seccomp", "-v", "-s", "1000000", "-o", out, nsjail, "--mode", "o", "--really_quiet", "--time_limit", "20",
			"--bindmount_ro", "/usr", "--symlink", "usr/lib:/lib", "--symlink", "usr/lib64:/lib64", "--seccomp_string", string(AppendKafel(nil, o, Native)), "--", "/usr/bin/true")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("nsjail does not run behind strace: %v\n%s", err, text)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		prog, f := straced(t, string(text)), Default(o)
		for _, nr := range numbers() {
			for c := range each(f, Native, nr) {
				got := Run(prog, c)
				if want, _ := f.Verdict(c); got != want {
					t.Fatalf("%+v: call %d%#x is %v, want %v", o, nr, c.Args, got, want)
				}
			}
		}
		if got := Run(prog, Call{Arch: unix.AUDIT_ARCH_I386}); got.Kind > KillProcess && got.Kind != KillThread {
			t.Errorf("another architecture's entry is %v", got)
		}
	}
}

var (
	straceProgram = regexp.MustCompile(`SECCOMP_MODE_FILTER, \{len=\d+, filter=\[(.*)\]\}`)
	straceInsn    = regexp.MustCompile(`BPF_(?:STMT|JUMP)\(([A-Z_|]+), ([^,)]+)(?:, ([^,)]+), ([^,)]+))?\)`)
)

// straced returns the filter in strace's output.
func straced(t *testing.T, text string) (prog []unix.SockFilter) {
	t.Helper()
	m := straceProgram.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no filter was loaded:\n%.2000s", text)
	}
	words := map[string]uint64{"BPF_LD": unix.BPF_LD, "BPF_W": unix.BPF_W, "BPF_ABS": unix.BPF_ABS, "BPF_JMP": unix.BPF_JMP, "BPF_K": unix.BPF_K, "BPF_JEQ": unix.BPF_JEQ,
		"BPF_JGE": unix.BPF_JGE, "BPF_JGT": unix.BPF_JGT, "BPF_JSET": unix.BPF_JSET, "BPF_JA": unix.BPF_JA, "BPF_RET": unix.BPF_RET, "BPF_ALU": unix.BPF_ALU, "BPF_AND": unix.BPF_AND,
		"SECCOMP_RET_KILL_THREAD": unix.SECCOMP_RET_KILL_THREAD, "SECCOMP_RET_ERRNO": unix.SECCOMP_RET_ERRNO, "SECCOMP_RET_ALLOW": unix.SECCOMP_RET_ALLOW}
	value := func(s string) (n uint64) {
		for _, word := range strings.Split(s, "|") {
			v, ok := words[word]
			if !ok && word != "" {
				var err error
				if v, err = strconv.ParseUint(word, 0, 32); err != nil {
					t.Fatalf("%q: %v", s, err)
				}
			}
			n |= v
		}
		return n
	}
	for _, i := range straceInsn.FindAllStringSubmatch(m[1], -1) {
		prog = append(prog, unix.SockFilter{Code: uint16(value(i[1])), K: uint32(value(i[2])), Jt: uint8(value(i[3])), Jf: uint8(value(i[4]))})
	}
	return prog
}
