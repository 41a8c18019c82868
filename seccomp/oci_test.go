package seccomp

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	docker "github.com/moby/profiles/seccomp"
	"golang.org/x/sys/unix"

	"sbx/internal/doc"
)

var here = Conditions{Arch: AMD64, Kernel: [2]int{6, 18}}

// judge returns the verdict of a profile on a call.
func judge(t *testing.T, doc string, h Conditions, call string, args ...uint64) Action {
	t.Helper()
	f, err := Profile("p.json", []byte(doc), h)
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	p := program(t, f, h.Arch)
	nr, ok := h.Arch.Number(call)
	if !ok {
		t.Fatalf("%v has no %s", h.Arch, call)
	}
	c := Call{Arch: h.Arch.Audit(), Nr: nr}
	copy(c.Args[:], args)
	want, _ := f.Verdict(c)
	if got := Run(p, c); got != want {
		t.Errorf("%s: %s: program says %v, filter %v", doc, call, got, want)
	}
	return want
}

// rule returns a profile with one entry that denies everything else.
func rule(entry string) string {
	return `{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[` + entry + `]}`
}

func TestProfile(t *testing.T) {
	allow, eperm := Action{Kind: Allow}, Fail(unix.EPERM)
	arm := Conditions{Arch: ARM64, Kernel: [2]int{5, 10}}
	root := Conditions{Arch: AMD64, Kernel: [2]int{4, 8}, Caps: []string{"CAP_A", "CAP_B"}}
	entry := func(more string) string {
		return rule(`{"names":["ioctl"],"action":"SCMP_ACT_ALLOW"` + more + `}`)
	}
	arg := func(op, v, two string) string {
		return entry(`,"args":[{"index":1,"op":"SCMP_CMP_` + op + `","value":` + v + `,"valueTwo":` + two + `}]`)
	}
	for _, row := range []struct {
		name, doc string
		h         Conditions
		args      []uint64
		want      Action
	}{
		{"default", `{"defaultAction":"SCMP_ACT_ALLOW"}`, here, nil, allow},
		{"default errno", `{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":38,"syscalls":[]}`, here, nil, Fail(unix.ENOSYS)},
		{"default kill", `{"defaultAction":"SCMP_ACT_KILL"}`, here, nil, Action{Kind: KillThread}},
		{"default errno beside another action", `{"defaultAction":"SCMP_ACT_ALLOW","defaultErrnoRet":1}`, here, nil, allow},
		{"null is nothing", `{"defaultAction":"SCMP_ACT_LOG","syscalls":null,"archMap":null,"flags":null}`, here, nil, Action{Kind: Log}},
		{"entry", entry(``), here, nil, allow},
		{"entry by name", rule(`{"name":"ioctl","names":[],"action":"SCMP_ACT_TRAP","args":[]}`), here, nil, Action{Kind: Trap}},
		{"kill process", rule(`{"names":["ioctl"],"action":"SCMP_ACT_KILL_PROCESS"}`), here, nil, Action{Kind: KillProcess}},
		{"kill thread", rule(`{"names":["ioctl"],"action":"SCMP_ACT_KILL_THREAD"}`), here, nil, Action{Kind: KillThread}},
		{"errno", rule(`{"names":["ioctl"],"action":"SCMP_ACT_ERRNO","errnoRet":13}`), here, nil, Fail(unix.EACCES)},
		{"the strictest", rule(`{"names":["ioctl"],"action":"SCMP_ACT_ALLOW"},{"names":["ioctl"],"action":"SCMP_ACT_TRAP","args":[{"index":1,"value":5,"op":"SCMP_CMP_EQ"}]}`), here, []uint64{0, 5}, Action{Kind: Trap}},

		{"arch in", entry(`,"includes":{"arches":["amd64","x32"]}`), here, nil, allow},
		{"arch not in", entry(`,"includes":{"arches":["amd64"]}`), arm, nil, eperm},
		{"arch out", entry(`,"excludes":{"arches":["arm64"]}`), arm, nil, eperm},
		{"caps all there", entry(`,"includes":{"caps":["CAP_A","CAP_B"]}`), root, nil, allow},
		{"one cap missing", entry(`,"includes":{"caps":["CAP_A","CAP_C"]}`), root, nil, eperm},
		{"one cap out", entry(`,"excludes":{"caps":["CAP_C","CAP_A"]}`), root, nil, eperm},
		{"no cap out", entry(`,"excludes":{"caps":["CAP_C"]}`), root, nil, allow},
		{"kernel new enough", entry(`,"includes":{"minKernel":"4.8"}`), root, nil, allow},
		{"kernel by major", entry(`,"includes":{"minKernel":"4.20"}`), here, nil, allow},
		{"kernel too old", entry(`,"includes":{"minKernel":"4.9"}`), root, nil, eperm},
		{"kernel out", entry(`,"excludes":{"minKernel":"4.8"}`), root, nil, eperm},
		{"includes and excludes", entry(`,"includes":{"caps":["CAP_A"]},"excludes":{"caps":["CAP_B"]}`), root, nil, eperm},
		{"empty conditions", entry(`,"comment":"","includes":{},"excludes":{}`), root, nil, allow},

		{"eq", arg("EQ", "7", "0"), here, []uint64{0, 7}, allow},
		{"eq is wide", arg("EQ", "7", "0"), here, []uint64{0, 7 | 1<<32}, eperm},
		{"ne", arg("NE", "7", "0"), here, []uint64{0, 7}, eperm},
		{"lt", arg("LT", "4294967296", "0"), here, []uint64{0, 1<<32 - 1}, allow},
		{"lt not", arg("LT", "4294967296", "0"), here, []uint64{0, 1 << 32}, eperm},
		{"le", arg("LE", "4294967296", "0"), here, []uint64{0, 1 << 32}, allow},
		{"gt", arg("GT", "18446744073709551614", "0"), here, []uint64{0, 1<<64 - 1}, allow},
		{"ge", arg("GE", "18446744073709551615", "0"), here, []uint64{0, 1<<64 - 2}, eperm},
		{"masked", arg("MASKED_EQ", "2080505856", "0"), here, []uint64{0, 17}, allow},
		{"masked not", arg("MASKED_EQ", "2080505856", "0"), here, []uint64{0, 0x20000}, eperm},
		{"masked value", arg("MASKED_EQ", "15", "18"), here, []uint64{0, 0xf2}, allow}, // masked, 18 is 2
		{"mask of nothing", arg("MASKED_EQ", "0", "1"), here, []uint64{0, 99}, allow},
		{"two on one argument, first", entry(`,"args":[{"index":1,"value":1,"op":"SCMP_CMP_EQ"},{"index":1,"value":2,"op":"SCMP_CMP_EQ"}]`), here, []uint64{0, 1}, allow},
		{"two on one argument, second", entry(`,"args":[{"index":1,"value":1,"op":"SCMP_CMP_EQ"},{"index":1,"value":2,"op":"SCMP_CMP_EQ"}]`), here, []uint64{0, 2}, allow},
		{"two on two arguments", entry(`,"args":[{"index":0,"value":1,"op":"SCMP_CMP_EQ"},{"index":1,"value":2,"op":"SCMP_CMP_EQ"}]`), here, []uint64{0, 2}, eperm},

		{"newer call allowed", rule(`{"names":["from_the_future","ioctl"],"action":"SCMP_ACT_ALLOW"}`), here, nil, allow},
		{"call of elsewhere refused", `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["socketcall","ioctl"],"action":"SCMP_ACT_ERRNO"}]}`, here, nil, eperm},
		{"architectures", `{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_X86_64","SCMP_ARCH_X86"],"flags":["SECCOMP_FILTER_FLAG_TSYNC"],"listenerPath":""}`, here, nil, allow},
		{"escapes", rule(`{"names":["\u0069octl"],"action":"SCMP_ACT_ALLOW","comment":"\ud83d\ude00\n\"é"}`), here, nil, allow},
		{"space and case", "\n\t" + strings.ReplaceAll(entry(``), ",", " ,\r\n ") + "\n", here, nil, allow},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := judge(t, row.doc, row.h, "ioctl", row.args...); got != row.want {
				t.Errorf("%s: %v, want %v", row.doc, got, row.want)
			}
		})
	}
}

func TestBadProfiles(t *testing.T) {
	entry := func(more string) string { return rule(`{"names":["ioctl"],"action":"SCMP_ACT_ALLOW"` + more + `}`) }
	for text, want := range map[string]string{
		``:                                    `p: empty document`,
		`null`:                                `p:1:1: want an object`,
		`[]`:                                  `p:1:1: want an object`,
		`{}`:                                  `p:1:1: there is no defaultAction`,
		`{"defaultAction":null}`:              `p:1:1: there is no defaultAction`,
		`{"defaultAction":"SCMP_ACT_ALOW"}`:   `p:1:18: defaultAction: "SCMP_ACT_ALOW" is not an action`,
		`{"defaultAction":"SCMP_ACT_NOTIFY"}`: `p:1:18: defaultAction: SCMP_ACT_NOTIFY needs a supervisor of the profile's own, and a filter can have only one: sbx's`,
		`{"defaultAction":"SCMP_ACT_TRACE"}`:  `p:1:18: defaultAction: SCMP_ACT_TRACE needs a tracer of the profile's own, which sbx does not start`,
		"{\n \"defaultAction\": \"SCMP_ACT_ALLOW\",\n \"syscall\": []}":     `p:3:2: there is no field "syscall"`,
		`{"defaultAction":"SCMP_ACT_ALLOW","defaultAction":"SCMP_ACT_LOG"}`: `p:1:35: the key "defaultAction" is there twice`,
		`{"defaultAction":"SCMP_ACT_ALLOW"}x`:                               `p:1:35: more text after the end of the document`,
		`{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":0}`:            `p:1:18: defaultErrnoRet: an errno lies between 1 and 4095`,
		`{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":-1}`:           `p:1:53: defaultErrnoRet: want a whole number from 0 to 18446744073709551615`,
		`{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":1e0}`:          `p:1:53: defaultErrnoRet: want a whole number from 0 to 18446744073709551615`,
		`{"defaultAction":1}`: `p:1:18: defaultAction: want a string`,
		`{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_PDP11"]}`:                   `p:1:51: architectures: "SCMP_ARCH_PDP11" is not an architecture`,
		`{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_X86"],"archMap":[{}]}`:      `p:1:79: archMap: architectures is there as well, and only one of them may be`,
		`{"defaultAction":"SCMP_ACT_ALLOW","archMap":[{"architecture":"SCMP_ARCH_X86","sub":[]}]}`: `p:1:78: archMap[0]: there is no field "sub"`,
		`{"defaultAction":"SCMP_ACT_ALLOW","flags":["SECCOMP_FILTER_FLAG_LOG"]}`:                   `p:1:43: flags: sbx does not load filters with "SECCOMP_FILTER_FLAG_LOG"`,
		`{"defaultAction":"SCMP_ACT_ALLOW","listenerPath":"/run/x"}`:                               `p:1:50: listenerPath: a filter can have only one listener: sbx's`,
		`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":{}}`:                                         `p:1:46: syscalls: want a list`,
		rule(`null`):                `p:1:47: syscalls[0]: want an object`,
		rule(`{"names":["ioctl"]}`): `p:1:47: syscalls[0].action: "" is not an action`,
		rule(`{"names":[],"action":"SCMP_ACT_ALLOW"}`):                        `p:1:47: syscalls[0]: want either names or name`,
		rule(`{"name":"read","names":["write"],"action":"SCMP_ACT_ALLOW"}`):   `p:1:47: syscalls[0]: want either names or name`,
		rule(`{"names":["ioctl",1],"action":"SCMP_ACT_ALLOW"}`):               `p:1:65: syscalls[0].names[1]: want a string`,
		rule(`{"names":["ioctll"],"action":"SCMP_ACT_ERRNO"}`):                `p:1:47: syscalls[0].names: no system call is named "ioctll"`,
		rule(`{"names":["ioctl"],"action":"SCMP_ACT_TRACE"}`):                 `p:1:75: syscalls[0].action: SCMP_ACT_TRACE needs a tracer of the profile's own, which sbx does not start`,
		rule(`{"names":["ioctl"],"action":"SCMP_ACT_ERRNO","errnoRet":4096}`): `p:1:75: syscalls[0].action: an errno lies between 1 and 4095`,
		entry(`,"errnoRet":1`): `p:1:75: syscalls[0].action: only SCMP_ACT_ERRNO has an errno`,
		entry(`,"args":[{"index":6,"op":"SCMP_CMP_EQ","value":1}]`): `p:1:100: syscalls[0].args[0].index: want the number of an argument, 0 to 5`,
		entry(`,"args":[{"op":"SCMP_CMP_EQ","value":1}]`):           `p:1:100: syscalls[0].args[0].index: want the number of an argument, 0 to 5`,
		entry(`,"args":[{"index":1,"value":1}]`):                    `p:1:100: syscalls[0].args[0].op: want a comparison`,
		entry(`,"args":[{"index":1,"op":"SCMP_CMP_XX","value":1}]`): `p:1:116: syscalls[0].args[0].op: "SCMP_CMP_XX" is not a comparison`,
		entry(`,"args":[{"index":1,"op":"any-bits","value":1}]`):    `p:1:116: syscalls[0].args[0].op: "any-bits" is not a comparison`,
		entry(`,"args":[null]`):                                     `p:1:100: syscalls[0].args[0]: want an object`,
		entry(`,"includes":{"minKernel":"new"}`):                    `p:1:116: syscalls[0].includes.minKernel: want a kernel's version and patch level, as 4.8`,
		entry(`,"includes":{"cap":[]}`):                             `p:1:104: syscalls[0].includes: there is no field "cap"`,
		entry(`,"excludes":[]`):                                     `p:1:103: syscalls[0].excludes: want an object`,
		`{"defaultAction":"a` + "\x01" + `"}`:                       `p:1:20: a control character in a string must be written as an escape`,
		`{"defaultAction":"` + "\xff" + `"}`:                        `p:1:19: not valid UTF-8`,
		`{"defaultAction":"\x"}`:                                    `p:1:19: unknown escape in a string`,
		`{"defaultAction":"\ud83d"}`:                                `p:1:19: half of a surrogate pair`,
		`{"defaultAction":"\u00"}`:                                  `p:1:19: want four hexadecimal digits after \u`,
		`{"defaultAction":"`:                                        `p:1:18: the string is not closed`,
		`{"defaultAction":01}`:                                      `p:1:18: a number cannot begin with 0`,
		`{"defaultAction":tru}`:                                     `p:1:18: want a value, got "tru"`,
		`{"defaultAction":-}`:                                       `p:1:18: want a digit after -`,
		`{"defaultAction" "x"}`:                                     `p:1:18: want : after the key "defaultAction", got "\""`,
		`{defaultAction:"x"}`:                                       `p:1:2: want a key in double quotes, got "d"`,
		`[1,]`:                                                      `p:1:4: no comma may stand before ]`,
		strings.Repeat("[", 40):                                     `p:1:33: nested more than 32 deep`,
		strings.Repeat(" ", 1<<20) + `{}`:                           `p: larger than 1 MiB`,
	} {
		f, err := Profile("p", []byte(text), here)
		var bad *doc.Error
		if !errors.As(err, &bad) || len(f.Rules) != 0 || err.Error() != want {
			t.Errorf("%.80q:\n have %v\n want %s", text, err, want)
		}
	}
	if _, err := Profile("p", []byte(`{"defaultAction":"SCMP_ACT_ALLOW"}`), Conditions{}); err == nil {
		t.Error("a profile for no architecture is read")
	}
}

// Every profile that Profile accepts compiles to a program of a length that the kernel accepts, or
// to an error, and never opens a side door.
func FuzzProfile(f *testing.F) {
	standard, err := json.Marshal(docker.DefaultProfile())
	if err != nil {
		f.Fatal(err)
	}
	kept, err := filepath.Glob("testdata/fuzz/FuzzProfile/*")
	if err != nil || len(kept) == 0 {
		f.Fatalf("the corpus is empty (%v)", err)
	}
	f.Add(standard)
	f.Fuzz(func(t *testing.T, text []byte) {
		profile, err := Profile("p", text, here)
		if err != nil {
			var bad *doc.Error
			if !errors.As(err, &bad) || bad.Pos.Col > len(text)+1 {
				t.Fatalf("an error of another document: %v", err)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatal("what is no JSON was read")
		}
		p, err := Program(WithSideDoors(profile, Options{Unix: true}), AMD64)
		if err != nil {
			var long *FilterError
			if !errors.As(err, &long) || long.Rule >= 0 {
				t.Fatalf("a profile that was accepted does not compile: %v", err)
			}
			return
		}
		for name, args := range map[string][6]uint64{
			"keyctl": {}, "mount": {}, "unshare": {}, "io_uring_setup": {},
			"socket": {unix.AF_VSOCK | 1<<32}, "ioctl": {0, unix.TIOCSTI | 1<<33}, "socketpair": {unix.AF_UNIX, unix.SOCK_DGRAM},
		} {
			nr, _ := AMD64.Number(name)
			if v := Run(p, Call{Arch: AMD64.Audit(), Nr: nr, Args: args}); v.Kind > Errno {
				t.Fatalf("%s is open: %v", name, v)
			}
		}
	})
}

// The kept corpus is in a form that go test reads.
func TestCorpus(t *testing.T) {
	files, err := os.ReadDir("testdata/fuzz/FuzzProfile")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
}
