package seccomp

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestRun(t *testing.T) {
	ret := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: opRet, K: k} }
	load := func(at uint32) unix.SockFilter { return unix.SockFilter{Code: opLoad, K: at} }
	c := Call{Arch: 0xa, Nr: 0xb, IP: 0x1111_2222_3333_4444, Args: [6]uint64{0x5555_6666_7777_8888, 5: 0x9999_aaaa_bbbb_cccc}}
	yes, no := Action{Kind: Allow}, Action{Kind: KillProcess}
	word := func(at, want uint32) []unix.SockFilter {
		return []unix.SockFilter{load(at), {Code: opEqual, Jt: 0, Jf: 1, K: want}, ret(unix.SECCOMP_RET_ALLOW), ret(unix.SECCOMP_RET_TRAP)}
	}
	test := func(op uint16, k uint32) []unix.SockFilter {
		return []unix.SockFilter{load(nrAt), {Code: op, Jt: 1, Jf: 0, K: k}, ret(unix.SECCOMP_RET_TRAP), ret(unix.SECCOMP_RET_ALLOW)}
	}
	for _, row := range []struct {
		name string
		p    []unix.SockFilter
		want Action
	}{
		{"number", word(0, 0xb), yes},
		{"architecture", word(4, 0xa), yes},
		{"pointer, low", word(8, 0x3333_4444), yes},
		{"pointer, high", word(12, 0x1111_2222), yes},
		{"first, low", word(16, 0x7777_8888), yes},
		{"first, high", word(20, 0x5555_6666), yes},
		{"last, high", word(60, 0x9999_aaaa), yes},
		{"past the data", word(64, 0), no},
		{"unaligned", word(2, 0), no},
		{"greater", test(opGreater, 0xa), yes},
		{"not greater", test(opGreater, 0xb), Action{Kind: Trap}},
		{"greater or equal", test(opGreaterEqual, 0xb), yes},
		{"bits", test(opAnyBits, 0x8), yes},
		{"no bits", test(opAnyBits, 0x4), Action{Kind: Trap}},
		{"and", []unix.SockFilter{load(nrAt), {Code: opAnd, K: 3}, {Code: opEqual, K: 3, Jf: 1}, ret(unix.SECCOMP_RET_ALLOW), ret(0)}, yes},
		{"jump", []unix.SockFilter{{Code: opJump, K: 1}, ret(0), ret(unix.SECCOMP_RET_ALLOW)}, yes},
		{"jump out", []unix.SockFilter{{Code: opJump, K: 0xffffffff}, ret(unix.SECCOMP_RET_ALLOW)}, no},
		{"fall out", []unix.SockFilter{load(0)}, no},
		{"empty", nil, no},
		{"store", []unix.SockFilter{{Code: unix.BPF_ST}}, no},
		{"errno", []unix.SockFilter{ret(unix.SECCOMP_RET_ERRNO | 13)}, Fail(unix.EACCES)},
		{"errno too large", []unix.SockFilter{ret(unix.SECCOMP_RET_ERRNO | 0xffff)}, Action{Kind: Errno, Errno: maxErrno}},
		{"data of another action", []unix.SockFilter{ret(unix.SECCOMP_RET_TRAP | 7)}, Action{Kind: Trap}},
		{"unknown action", []unix.SockFilter{ret(0x12340000)}, no},
		{"trace", []unix.SockFilter{ret(unix.SECCOMP_RET_TRACE | 7)}, Action{Kind: Trace}},
	} {
		if got := Run(row.p, c); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}
