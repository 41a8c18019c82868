package front

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// TestRead holds what is read of command lines that runtimes and package oci take.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		line, id, root, state, words string
		runtime                      string
		stays                        bool
	}{
		{line: "start a", id: "a", words: "start a"},
		{line: "--root /r --sbx-state=/s --debug --log l --sbx-policy p kill a KILL", id: "a", root: "/r", state: "/s", words: "--root /r --debug --log l kill a KILL"},
		{line: "--sbx-runtime /usr/bin/runc -root=/r state a", id: "a", root: "/r", words: "-root=/r state a", runtime: "/usr/bin/runc"},
		{line: "--sbx-nosuch x start a"},
		{line: "--sbx-state= start a"},
		{line: "--sbx-state"},
		{line: "start --help a", words: "start --help a"},
		{line: "start ../a", words: "start ../a"},
		{line: "start a/b", words: "start a/b"},
		{line: "start", words: "start"},
		{line: "delete a", words: "delete a"},
		{line: "exec a create", words: "exec a create"},
		{line: "create --bundle b a", words: "create --bundle b a", stays: true},
		{line: "--nosuch value create a", words: "--nosuch value create a", stays: true},
		{line: "run --bundle b a", words: "run --bundle b a"},
		{line: "run --bundle b -d a", words: "run --bundle b -d a", stays: true},
		{line: "run --detach=false a", words: "run --detach=false a"},
		{line: "run --detach a", words: "run --detach a", stays: true},
		{},
	} {
		var argv []*byte
		for w := range strings.FieldsSeq("sbx-oci " + c.line) {
			argv = append(argv, unsafe.StringData(w+"\x00"))
		}
		argc := len(argv)
		argv = append(argv, nil, unsafe.StringData("SBX_OCI_RUNTIME=/usr/bin/crun\x00"), nil)
		got := called{argc: argc, argv: unsafe.Pointer(&argv[0])}
		got.read()
		var all []string
		for _, w := range words[1:max(got.n+1, 1)] {
			all = append(all, text(w))
		}
		if got.id != c.id || got.root != c.root || got.state != c.state || got.stays != c.stays || c.words != "" && !slices.Equal(all, strings.Fields(c.words)) {
			t.Errorf("%s: %+v, %q", c.line, got, all)
		}
		if want := cmp.Or(c.runtime, "/usr/bin/crun"); got.id != "" && got.runtime != want {
			t.Errorf("%s: %q", c.line, got.runtime)
		}
		runtime.KeepAlive(argv)
	}
	long := make([]*byte, 2*mostWords)
	for i := range long {
		long[i] = unsafe.StringData("start\x00")
	}
	long[len(long)-2], long[len(long)-1] = nil, nil // behind the words, and the variables
	got := called{argc: len(long) - 2, argv: unsafe.Pointer(&long[0])}
	if got.read(); got.id != "" {
		t.Error("a long command line is handed on cut off")
	}
}
