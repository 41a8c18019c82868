package seccomp

import (
	"testing"

	"golang.org/x/sys/unix"
)

// NotifyConnect notifies of connect, if the level notifies of anything. Without it connect is
// allowed. Unix notifies of it in any case.
func TestReach(t *testing.T) {
	connect, ok := Native.Number("connect")
	if !ok {
		t.Fatal("no connect")
	}
	call := Call{Nr: connect, Arch: Native.Audit()}
	for _, row := range []struct {
		o    Options
		want Action
	}{
		{Options{Notify: NotifyExec}, Action{Kind: Allow}},
		{Options{NotifyConnect: true}, Action{Kind: Allow}},
		{Options{NotifyConnect: true, Notify: NotifyExec}, Action{Kind: KindNotify}},
		{Options{NotifyConnect: true, Notify: NotifyOpens, Root: true}, Action{Kind: KindNotify}},
		{Options{NotifyConnect: true, Unix: true, Notify: NotifyExec}, Action{Kind: KindNotify}},
		{Options{NotifyConnect: true, Uncounted: true, Notify: NotifyExec}, Action{Kind: KindNotify}},
	} {
		for _, f := range []Filter{Default(row.o), Notifications(row.o)} {
			prog, err := Program(f, Native)
			if err != nil {
				t.Fatal(err)
			}
			if got := Run(prog, call); got != row.want {
				t.Errorf("%+v, %s: %v, want %v", row.o, f.Name, got, row.want)
			}
		}
		prog, _ := Program(Default(row.o), Native)
		if Shipped(row.o, Native) != string(Encode(prog)) {
			t.Errorf("%+v: what is shipped is another program", row.o)
		}
	}
}

// A call that makes an executable file in memory goes to the supervisor, or fails. A sealed one is
// allowed, and nothing else changes.
func TestSeal(t *testing.T) {
	for _, a := range []Arch{AMD64, ARM64} {
		nr, ok := a.Number("memfd_create")
		if !ok {
			t.Fatal("no memfd_create")
		}
		open, _ := a.Number("openat")
		for _, test := range []struct {
			o    Options
			flag uint64
			want Action
		}{
			{Options{}, 0, Action{Kind: Allow}},
			{Options{Seal: SealAsk, Notify: NotifyExec}, 0, Action{Kind: KindNotify}},
			{Options{Seal: SealAsk, Notify: NotifyOpens}, unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING, Action{Kind: KindNotify}},
			{Options{Seal: SealAsk, Notify: NotifyExec}, unix.MFD_EXEC, Action{Kind: KindNotify}},
			{Options{Seal: SealAsk, Notify: NotifyExec}, 0x8_0000_0000, Action{Kind: KindNotify}}, // the kernel reads 32 bits
			{Options{Seal: SealAsk, Notify: NotifyExec}, unix.MFD_NOEXEC_SEAL | unix.MFD_CLOEXEC, Action{Kind: Allow}},
			{Options{Seal: SealRefuse}, 0, Fail(unix.EPERM)},
			{Options{Seal: SealRefuse}, unix.MFD_NOEXEC_SEAL, Action{Kind: Allow}},
		} {
			for _, f := range []Filter{Default(test.o), Notifications(test.o), Beside(Options{Seal: test.o.Seal})} {
				prog, err := Program(f, a)
				if err != nil {
					t.Fatal(err)
				}
				c := Call{Arch: a.Audit(), Nr: nr, Args: [6]uint64{0, test.flag}}
				if got := Run(prog, c); got != test.want {
					t.Errorf("%v %s %+v, flags %#x: %v, want %v", a, f.Name, test.o, test.flag, got, test.want)
				}
				c.Nr = open
				if got, without := Run(prog, c), test.o.plain(t, f.Name, a, c); got != without {
					t.Errorf("openat: %v, and without the seal %v", got, without)
				}
			}
		}
	}
}

// plain returns the verdict of the same filter without a seal.
func (o Options) plain(t *testing.T, name string, a Arch, c Call) Action {
	t.Helper()
	o.Seal = SealNone
	f := Default(o)
	switch name {
	case "notifications":
		f = Notifications(o)
	case "beside":
		f = Beside(Options{})
	}
	prog, err := Program(f, a)
	if err != nil {
		t.Fatal(err)
	}
	return Run(prog, c)
}
