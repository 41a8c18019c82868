package seccomp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	docker "github.com/moby/profiles/seccomp"
	"golang.org/x/sys/unix"
)

func TestEmbeddedIsDefault(t *testing.T) {
	if n := len(Variants()); n != 40 {
		t.Fatalf("%d variants", n)
	}
	for i, o := range Variants() {
		if o.index() != i {
			t.Errorf("%+v has the index %d, want %d", o, o.index(), i)
		}
		for _, a := range bothArches {
			want := program(t, Default(o), a)
			if got := decode(Shipped(o, a)); !slices.Equal(got, want) {
				t.Errorf("%v %+v: the embedded program (%d instructions) is not what Default makes (%d): run go generate", a, o, len(got), len(want))
			}
		}
		if got := embedded(o); !slices.Equal(got, decode(Shipped(o, Native))) {
			t.Errorf("%+v: Embedded is not Shipped", o)
		}
	}
	if Shipped(Options{}, 0) != "" || decode("1234567") != nil {
		t.Error("something is shipped for no architecture")
	}
	p := embedded(Options{})
	p[0] = unix.SockFilter{}
	if embedded(Options{})[0] == p[0] {
		t.Error("who changes an embedded program changes it for all")
	}
}

// Each call of the tables is decided by a rule with a reason, in every variant.
func TestEveryCallIsDecided(t *testing.T) {
	for _, o := range Variants() {
		f := Default(o)
		for _, a := range bothArches {
			for _, name := range a.Calls() {
				nr, _ := a.Number(name)
				if !slices.ContainsFunc(f.Rules, func(r Rule) bool { return len(r.Args) == 0 && slices.Contains(r.Calls, name) }) {
					t.Errorf("%v: no rule without conditions names %s (%d)", a, name, nr)
				}
			}
		}
		for _, r := range f.Rules {
			if r.Why == "" || len(r.Calls) == 0 {
				t.Errorf("a rule about %v gives the reason %q", r.Calls, r.Why)
			}
			for _, name := range r.Calls {
				_, intel := AMD64.Number(name)
				_, arm := ARM64.Number(name)
				if !intel && !arm {
					t.Errorf("%s is a call of neither architecture", name)
				}
			}
		}
	}
}

// Every rule, every call in a rule and every condition has an effect: without it, a verdict changes
// under one default or the other. The rules of an option are tried with that option alone.
func TestNoDeadRules(t *testing.T) {
	plain := Default(Options{})
	for _, o := range []Options{{}, {Root: true}, {Unix: true}, {NoInet: true}, {NoFastOpen: true}, {Notify: NotifyExec}, {Notify: NotifyOpens}, {Notify: NotifyOpens, NotifyReads: true}, {Unix: true, Notify: NotifyNames}} {
		f := Default(o)
		for i, r := range f.Rules {
			if o != (Options{}) && slices.ContainsFunc(plain.Rules, func(p Rule) bool { return p.Why == r.Why }) {
				continue
			}
			if same(f, dropped(f, i, nil), r.Calls) {
				t.Errorf("%+v: the rule about %v (%s) changes nothing", o, r.Calls, r.Why)
			}
			for _, name := range r.Calls {
				kept := r
				kept.Calls = slices.DeleteFunc(slices.Clone(r.Calls), func(s string) bool { return s == name })
				if same(f, dropped(f, i, &kept), []string{name}) {
					t.Errorf("%+v: %s in the rule %q changes nothing", o, name, r.Why)
				}
			}
			for j := range r.Args {
				kept := r
				kept.Args = slices.Delete(slices.Clone(r.Args), j, j+1)
				if same(f, dropped(f, i, &kept), r.Calls) {
					t.Errorf("%+v: condition %d of the rule %q about %v changes nothing", o, j, r.Why, r.Calls)
				}
			}
		}
	}
}

// dropped returns f with rule i replaced by instead, or without it if instead is nil.
func dropped(f Filter, i int, instead *Rule) Filter {
	f.Rules = slices.Clone(f.Rules)
	if instead == nil {
		f.Rules = slices.Delete(f.Rules, i, i+1)
		return f
	}
	f.Rules[i] = *instead
	return f
}

// same reports whether f and g give equal verdicts on these calls, with their own default and with
// Allow. The values tried are those of f.
func same(f, g Filter, calls []string) bool {
	for _, def := range []Action{f.Default, {Kind: Allow}} {
		f.Default, g.Default = def, def
		for _, a := range bothArches {
			for _, name := range calls {
				nr, ok := a.Number(name)
				if !ok {
					continue
				}
				for c := range each(f, a, nr) {
					x, _ := f.Verdict(c)
					y, _ := g.Verdict(c)
					if x != y {
						return false
					}
				}
			}
		}
	}
	return true
}

// The verdicts are those that docs/reference/spec.md promises, also with high words that a program
// may set and the kernel does not read.
func TestVerdicts(t *testing.T) {
	allow, eperm, enosys := Action{Kind: Allow}, Fail(unix.EPERM), noSuchCall
	sock := func(family, typ, protocol uint64) [6]uint64 { return [6]uint64{family, typ, protocol} }
	flags := uint64(unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK)
	uds, all := Options{Unix: true}, Options{Root: true, Unix: true, NoInet: true, Notify: NotifyExec}
	for _, row := range []struct {
		call string
		o    Options
		args [6]uint64
		low  []int // the arguments of which the kernel reads 32 bits
		want Action
	}{
		{"read", all, [6]uint64{}, nil, allow},
		{"openat", all, [6]uint64{}, nil, allow},
		{"execve", Options{}, [6]uint64{}, nil, allow},
		{"execve", all, [6]uint64{}, nil, Action{Kind: KindNotify}},
		{"execveat", Options{Notify: NotifyExec}, [6]uint64{}, nil, Action{Kind: KindNotify}},
		{"ptrace", all, [6]uint64{}, nil, allow},
		{"personality", all, [6]uint64{0x40000}, []int{0}, allow},
		{"io_uring_setup", Options{}, [6]uint64{}, nil, enosys},
		{"io_uring_enter", Options{}, [6]uint64{}, nil, enosys},
		{"clone3", Options{}, [6]uint64{}, nil, enosys},
		{"keyctl", Options{}, [6]uint64{}, nil, eperm},
		{"bpf", Options{}, [6]uint64{}, nil, eperm},
		{"open_by_handle_at", all, [6]uint64{}, nil, eperm},
		{"mount", all, [6]uint64{}, nil, eperm},
		{"unshare", Options{}, [6]uint64{}, nil, eperm},
		{"setns", Options{}, [6]uint64{}, nil, eperm},
		{"clone", Options{}, [6]uint64{17}, []int{0}, allow},
		{"clone", Options{}, [6]uint64{0x3d0f00}, []int{0}, allow}, // a thread of libc
		{"clone", Options{}, [6]uint64{0x4111}, []int{0}, allow},   // vfork
		{"clone", Options{}, [6]uint64{unix.CLONE_NEWUSER | 17}, []int{0}, eperm},
		{"clone", Options{}, [6]uint64{unix.CLONE_NEWNS}, []int{0}, eperm},
		{"clone", Options{}, [6]uint64{unix.CLONE_NEWCGROUP}, []int{0}, eperm},
		{"clone", Options{}, [6]uint64{unix.CLONE_NEWUTS}, []int{0}, eperm},
		{"clone", Options{}, [6]uint64{unix.CLONE_NEWIPC}, []int{0}, eperm},
		{"clone", Options{}, [6]uint64{unix.CLONE_NEWPID}, []int{0}, eperm},
		{"clone", Options{}, [6]uint64{unix.CLONE_NEWNET}, []int{0}, eperm},
		{"clone", Options{}, [6]uint64{unix.CLONE_NEWTIME}, []int{0}, allow}, // an exit signal here
		{"ioctl", Options{}, [6]uint64{0, unix.TCGETS}, []int{0, 1}, allow},
		{"ioctl", Options{}, [6]uint64{0, unix.TIOCSTI}, []int{0, 1}, eperm},
		{"ioctl", Options{}, [6]uint64{0, 0x541c}, []int{0, 1}, eperm},
		{"ioctl", Options{}, [6]uint64{0, 0x50009401}, []int{0, 1}, eperm}, // BTRFS_IOC_SNAP_CREATE
		{"ioctl", Options{}, [6]uint64{0, 0x50009417}, []int{0, 1}, eperm}, // BTRFS_IOC_SNAP_CREATE_V2
		{"ioctl", Options{}, [6]uint64{0, 0xc0506617}, []int{0, 1}, eperm}, // FS_IOC_ADD_ENCRYPTION_KEY
		{"ioctl", Options{}, [6]uint64{0, 0xc0406618}, []int{0, 1}, eperm}, // FS_IOC_REMOVE_ENCRYPTION_KEY
		{"ioctl", Options{}, [6]uint64{0, 0xc0406619}, []int{0, 1}, eperm}, // FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS
		{"ioctl", Options{}, [6]uint64{0, 0xc0096616}, []int{0, 1}, allow}, // FS_IOC_GET_ENCRYPTION_POLICY_EX
		{"ioctl", Options{}, [6]uint64{0, 0x5000940e}, []int{0, 1}, eperm}, // BTRFS_IOC_SUBVOL_CREATE
		{"ioctl", Options{}, [6]uint64{0, 0x50009418}, []int{0, 1}, eperm}, // BTRFS_IOC_SUBVOL_CREATE_V2
		{"ioctl", Options{}, [6]uint64{0, 0x5000943f}, []int{0, 1}, eperm}, // BTRFS_IOC_SNAP_DESTROY_V2
		{"ioctl", Options{}, [6]uint64{0, 0x40049409}, []int{0, 1}, allow}, // FICLONE
		{"ioctl", Options{}, [6]uint64{0, 0x4020940d}, []int{0, 1}, allow}, // FICLONERANGE
		{"ioctl", Options{}, [6]uint64{0, 0xc0189436}, []int{0, 1}, allow}, // FIDEDUPERANGE
		{"ioctl", Options{}, [6]uint64{0, 0x4020bc10}, []int{0, 1}, eperm}, // BCH_IOCTL_SUBVOLUME_CREATE
		{"fcntl", Options{}, [6]uint64{0, unix.F_SETFD}, []int{0, 1}, allow},
		{"fcntl", Options{}, [6]uint64{0, unix.F_GETLEASE}, []int{0, 1}, allow},
		{"fcntl", Options{}, [6]uint64{0, unix.F_SETLEASE}, []int{0, 1}, eperm},
		{"fcntl", Options{}, [6]uint64{0, unix.F_SETLEASE + 16}, []int{0, 1}, eperm},
		{"setpriority", Options{}, [6]uint64{unix.PRIO_PROCESS}, []int{0}, allow},
		{"setpriority", Options{}, [6]uint64{unix.PRIO_PGRP}, []int{0}, eperm},
		{"setpriority", Options{}, [6]uint64{unix.PRIO_USER}, []int{0}, allow},
		{"ioprio_set", Options{}, [6]uint64{1}, []int{0}, allow},
		{"ioprio_set", Options{}, [6]uint64{2}, []int{0}, eperm},
		{"prlimit64", Options{}, [6]uint64{0, 7}, []int{0}, allow},
		{"prlimit64", Options{}, [6]uint64{1, 7}, []int{0}, eperm},
		{"socket", all, sock(unix.AF_UNIX, unix.SOCK_STREAM, 0), []int{0, 1, 2}, allow},
		{"socket", Options{}, sock(unix.AF_UNIX, unix.SOCK_DGRAM, 0), []int{0, 1, 2}, allow},
		{"socket", uds, sock(unix.AF_UNIX, unix.SOCK_DGRAM, 0), []int{0, 1, 2}, eperm},
		{"socket", uds, sock(unix.AF_UNIX, unix.SOCK_DGRAM|flags, 0), []int{0, 1, 2}, eperm},
		{"socket", uds, sock(unix.AF_UNIX, unix.SOCK_RAW|flags, 0), []int{0, 1, 2}, eperm},
		{"socket", uds, sock(unix.AF_UNIX, unix.SOCK_SEQPACKET|flags, 0), []int{0, 1, 2}, allow},
		{"socketpair", uds, sock(unix.AF_UNIX, unix.SOCK_DGRAM, 0), []int{0, 1, 2}, eperm},
		{"socketpair", uds, sock(unix.AF_UNIX, unix.SOCK_STREAM, 0), []int{0, 1, 2}, allow},
		{"socketpair", Options{}, sock(unix.AF_UNIX, unix.SOCK_DGRAM, 0), []int{0, 1, 2}, allow},
		{"socket", uds, sock(unix.AF_INET, unix.SOCK_DGRAM|flags, 0), []int{0, 1, 2}, allow},
		{"socket", uds, sock(unix.AF_INET6, unix.SOCK_STREAM|flags, 0), []int{0, 1, 2}, allow},
		{"socket", all, sock(unix.AF_INET, unix.SOCK_DGRAM, 0), []int{0, 1, 2}, eperm},
		{"socket", all, sock(unix.AF_INET6, unix.SOCK_STREAM, 0), []int{0, 1, 2}, eperm},
		{"sendto", Options{NoFastOpen: true}, [6]uint64{0, 0, 0, unix.MSG_FASTOPEN | unix.MSG_NOSIGNAL}, []int{0, 3}, Fail(unix.EOPNOTSUPP)},
		{"sendmsg", Options{NoFastOpen: true}, [6]uint64{0, 0, unix.MSG_FASTOPEN}, []int{0, 2}, Fail(unix.EOPNOTSUPP)},
		{"sendmmsg", Options{NoFastOpen: true}, [6]uint64{0, 0, 0, unix.MSG_FASTOPEN}, []int{0, 3}, Fail(unix.EOPNOTSUPP)},
		{"setsockopt", Options{NoFastOpen: true}, [6]uint64{0, unix.SOL_TCP, unix.TCP_FASTOPEN_CONNECT}, []int{0, 1, 2}, Fail(unix.EOPNOTSUPP)},
		{"setsockopt", Options{NoFastOpen: true}, [6]uint64{0, unix.SOL_TCP, unix.TCP_FASTOPEN}, []int{0, 1, 2}, allow},
		{"setsockopt", Options{}, [6]uint64{0, unix.SOL_TCP, unix.TCP_FASTOPEN_CONNECT}, []int{0, 1, 2}, allow},
		{"sendto", Options{NoFastOpen: true}, [6]uint64{0, 0, 0, unix.MSG_NOSIGNAL}, []int{0, 3}, allow},
		{"sendto", Options{}, [6]uint64{0, 0, 0, unix.MSG_FASTOPEN}, []int{0, 3}, allow},
		{"socket", Options{}, sock(unix.AF_INET, unix.SOCK_RAW, 1), []int{0, 1, 2}, eperm},
		{"socket", Options{}, sock(unix.AF_INET6, unix.SOCK_RAW|flags, 58), []int{0, 1, 2}, eperm},
		{"socket", Options{}, sock(unix.AF_INET, unix.SOCK_PACKET, 3), []int{0, 1, 2}, eperm},
		{"socket", Options{}, sock(unix.AF_NETLINK, unix.SOCK_RAW|flags, unix.NETLINK_ROUTE), []int{0, 1, 2}, allow},
		{"socket", Options{}, sock(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC), []int{0, 1, 2}, eperm},
		{"socket", Options{}, sock(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT), []int{0, 1, 2}, eperm},
		{"socket", Options{}, sock(unix.AF_VSOCK, unix.SOCK_STREAM, 0), []int{0, 1, 2}, eperm},
		{"socket", Options{}, sock(unix.AF_PACKET, unix.SOCK_RAW, 0), []int{0, 1, 2}, eperm},
		{"socket", Options{}, sock(unix.AF_ALG, unix.SOCK_SEQPACKET, 0), []int{0, 1, 2}, eperm},
		{"socket", Options{}, sock(unix.AF_UNSPEC, unix.SOCK_STREAM, 0), []int{0, 1, 2}, eperm},
		{"mknodat", Options{Root: true}, [6]uint64{0, 0, unix.S_IFBLK | 0o600, 0x800}, []int{2, 3}, eperm},
		{"mknodat", Options{Root: true}, [6]uint64{0, 0, unix.S_IFCHR | 0o600, 0x103}, []int{2, 3}, eperm},
		{"mknodat", Options{Root: true}, [6]uint64{0, 0, unix.S_IFCHR | 0o600, 0}, []int{2, 3}, allow},
		{"mknodat", Options{Root: true}, [6]uint64{0, 0, unix.S_IFIFO | 0o600, 0}, []int{2, 3}, allow},
		{"mknodat", Options{}, [6]uint64{0, 0, unix.S_IFBLK, 0x800}, []int{2, 3}, allow},
	} {
		for _, a := range bothArches {
			nr, ok := a.Number(row.call)
			if !ok {
				t.Fatalf("%v has no %s", a, row.call)
			}
			p := decode(Shipped(row.o, a))
			for _, high := range []uint64{0, 1 << 32, 1 << 63, 0xffffffff << 32} {
				c := Call{Arch: a.Audit(), Nr: nr, Args: row.args}
				for _, i := range row.low {
					c.Args[i] |= high
				}
				if got := Run(p, c); got != row.want {
					t.Errorf("%v %+v: %s %#x: %v, want %v", a, row.o, row.call, c.Args, got, row.want)
				}
			}
		}
	}
}

// A profile that allows, logs or answers everything leaves the side doors closed, and a stricter
// one stays strict.
func TestSideDoorsWinOverProfiles(t *testing.T) {
	variants := Variants()
	if testing.Short() {
		variants = variants[:1]
	}
	for _, o := range variants {
		shut := Default(o)
		for _, everything := range []Action{{Kind: Allow}, {Kind: Log}} {
			wide := WithSideDoors(Filter{Name: "wide", Default: everything, Rules: []Rule{{Calls: AMD64.Calls(), Do: everything, Why: "all"}}}, o)
			p := program(t, wide, AMD64)
			doors := WithSideDoors(Filter{}, o).Rules
			for _, r := range doors {
				for _, name := range r.Calls {
					nr, ok := AMD64.Number(name)
					if !ok {
						continue
					}
					for c := range each(shut, AMD64, nr) {
						want, _ := shut.Verdict(c)
						if want.Kind == Allow {
							want = everything
						}
						if got := Run(p, c); got != want {
							t.Errorf("%+v: %s %#x: %v, want %v", o, name, c.Args, got, want)
						}
					}
				}
			}
		}
	}
	strict := WithSideDoors(Filter{Name: "strict", Default: Action{Kind: KillProcess}, Rules: []Rule{
		{Calls: []string{"mount", "execve"}, Do: Action{Kind: KillProcess}},
		{Calls: []string{"clone3", "keyctl"}, Do: Fail(unix.EACCES)},
	}}, Options{Notify: NotifyExec})
	p := program(t, strict, AMD64)
	for name, want := range map[string]Action{
		"mount": {Kind: KillProcess}, "execve": {Kind: KillProcess}, "read": {Kind: KillProcess},
		"clone3": noSuchCall, "keyctl": Fail(unix.EPERM), "execveat": {Kind: KindNotify},
	} {
		nr, _ := AMD64.Number(name)
		if got := Run(p, Call{Arch: AMD64.Audit(), Nr: nr}); got != want {
			t.Errorf("%s under a strict profile: %v, want %v", name, got, want)
		}
	}
}

// differences are the differences from Docker's default profile for a process without capabilities:
// calls that sbx denies (or allows only in part) and Docker allows, and the reverse.
var differences = map[string]string{
	"lsm_get_self_attr": "it reads the caller's own label",
	"lsm_list_modules":  "it tells the names of the security modules",
	"kcmp":              "debuggers: it asks for the right to trace",
	"pidfd_getfd":       "debuggers: it asks for the right to trace",
	"process_madvise":   "debuggers: it asks for the right to trace",
	"personality":       "debuggers switch address randomization off",
	"file_getattr":      "it is FS_IOC_FSGETXATTR under another name",
	"file_setattr":      "it is FS_IOC_FSSETXATTR under another name",
	"rseq_slice_yield":  "a thread gives its time slice back",
	"uprobe":            "the kernel's own way back from a probe",
	"epoll_ctl_old":     "no kernel has it",
	"epoll_wait_old":    "no kernel has it",
	"fanotify_mark":     "no use without fanotify_init",
	"ioctl":             "TIOCSTI, TIOCLINUX, subvolumes and snapshots",
	"prlimit64":         "other processes' limits",
	"fcntl":             "leases",
	"setpriority":       "process groups",
	"ioprio_set":        "process groups",
	"socket":            "address families, raw sockets",
	"socketpair":        "address families, raw sockets",
}

func TestBreadthIsDockers(t *testing.T) {
	doc, err := json.Marshal(docker.DefaultProfile())
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := Profile("docker", doc, Conditions{Arch: AMD64, Kernel: [2]int{6, 18}})
	if err != nil {
		t.Fatal(err)
	}
	ours := Default(Options{})
	unused := maps.Clone(differences)
	for _, name := range AMD64.Calls() {
		nr, _ := AMD64.Number(name)
		var differ []string
		both := Filter{Rules: append(slices.Clone(theirs.Rules), ours.Rules...)}
		for c := range each(both, AMD64, nr) {
			for i := range c.Args {
				c.Args[i] = uint64(uint32(c.Args[i])) // Docker's compares the high words, too
			}
			x, _ := ours.Verdict(c)
			y, _ := theirs.Verdict(c)
			if (x.Kind == Allow) != (y.Kind == Allow) {
				differ = append(differ, fmt.Sprintf("%#x: ours %v, Docker's %v", c.Args, x, y))
			}
		}
		if len(differ) == 0 {
			continue
		}
		if _, known := differences[name]; !known {
			t.Errorf("%s differs: %s", name, strings.Join(differ[:min(3, len(differ))], "; "))
		}
		delete(unused, name)
	}
	for name := range unused {
		t.Errorf("%s is listed as a difference and is none", name)
	}
}

func BenchmarkEmbedded(b *testing.B) {
	for b.Loop() {
		embedded(Options{Root: true, Unix: true, NoInet: true, Notify: NotifyExec})
	}
}
