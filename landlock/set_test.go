package landlock

import (
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/landlock-lsm/go-landlock/landlock"
)

// Every right has one name, each name one right, and a set that is written as text is read back the
// same.
func TestNames(t *testing.T) {
	for kind, set := range map[string]struct {
		bits []bit
		all  uint64
	}{"fs": {fsBits[:], uint64(FSAll)}, "net": {netBits[:], uint64(NetAll)}, "scope": {scopeBits[:], uint64(ScopeAll)}} {
		var seen uint64
		byName := map[string]bool{}
		for _, b := range set.bits {
			if bits.OnesCount64(b.bit) != 1 || seen&b.bit != 0 || byName[b.name] || b.name == "" {
				t.Errorf("%s: %q (%#x) is no right of its own", kind, b.name, b.bit)
			}
			seen |= b.bit
			byName[b.name] = true
		}
		if seen != set.all {
			t.Errorf("%s: the names cover %#x, all is %#x", kind, seen, set.all)
		}
		if seen&(seen+1) != 0 {
			t.Errorf("%s: %#x has a hole", kind, seen)
		}
		for range 200 {
			v := random.Uint64() & set.all
			back := uint64(0)
			for _, b := range set.bits {
				if slices.Contains(strings.Split(names(v, set.bits), ", "), b.name) {
					back |= b.bit
				}
			}
			if back != v {
				t.Errorf("%s: %s reads back as %#x, not %#x", kind, names(v, set.bits), back, v)
			}
		}
	}
}

func TestText(t *testing.T) {
	for _, row := range []struct {
		set  interface{ String() string }
		want string
	}{
		{FSSet(0), "none"},
		{Execute | Truncate, "execute, truncate"},
		{ConnectTCP, "connect_tcp"},
		{ScopeAll, "abstract_unix_socket, signal"},
	} {
		if text := row.set.String(); text != row.want {
			t.Errorf("text is %q, want %q", text, row.want)
		}
	}
	if got := (ReadFile | 1<<40).String(); got != "read_file, 0x10000000000" {
		t.Errorf("an unknown right is %q", got)
	}
}

func TestHandySets(t *testing.T) {
	if FSRead&FSWrite != 0 || Execute&FSWrite != 0 {
		t.Error("reading and writing overlap")
	}
	if FSReadExec|FSWrite|MakeChar|MakeBlock|IoctlDev|ResolveUnix != FSAll {
		t.Error("the sets do not add up to all")
	}
	if FileOnly&(ReadDir|RemoveDir|RemoveFile|Refer|MakeReg) != 0 {
		t.Error("a file cannot have a directory's rights")
	}
}

// The table agrees with go-landlock's about each ABI.
func TestTableIsGoLandlocks(t *testing.T) {
	theirs := []landlock.Config{
		{}, landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5,
		landlock.V6, landlock.V7, landlock.V8, landlock.V9, landlock.V10,
	}
	if len(theirs) != Newest+1 || len(abis) != Newest {
		t.Fatalf("the table ends at %d, go-landlock's at %d", Newest, len(theirs)-1)
	}
	for version, config := range theirs {
		fs, net, scope := Rights(version)
		if uint64(fs) != uint64(config.HandledAccessFS) || uint64(net) != uint64(config.HandledAccessNet) || uint64(scope) != uint64(config.Scoped) {
			t.Errorf("ABI %d: %v; %v; %v, go-landlock has %v; %v; %v", version, fs, net, scope, config.HandledAccessFS, config.HandledAccessNet, config.Scoped)
		}
		if got := config.HandledAccessFS.String(); version > 0 && got != "{"+compact(fs.String())+"}" {
			t.Errorf("ABI %d: the names are %v, go-landlock's are %v", version, fs, got)
		}
	}
	if fs, net, scope := Rights(99); fs != FSAll || net != NetAll || scope != ScopeAll {
		t.Error("an ABI from the future is not the newest")
	}
}

// compact returns a list of names as go-landlock writes it.
func compact(s string) string {
	var out []rune
	for _, r := range s {
		if r != ' ' {
			out = append(out, r)
		}
	}
	return string(out)
}

func TestTableIsInOrder(t *testing.T) {
	var fs FSSet
	var net NetSet
	var scope ScopeSet
	for i, a := range abis {
		if a.version != i+1 || a.kernel == "" || Kernel(a.version) != a.kernel {
			t.Errorf("line %d is ABI %d of Linux %q", i, a.version, a.kernel)
		}
		if fs&a.fs != 0 || net&a.net != 0 || scope&a.scope != 0 {
			t.Errorf("ABI %d brings what was there", a.version)
		}
		fs, net, scope = fs|a.fs, net|a.net, scope|a.scope
		wantAttr := uintptr(8)
		if scope != 0 {
			wantAttr = 24
		} else if net != 0 {
			wantAttr = 16
		}
		if AttrSize(a.version) != wantAttr {
			t.Errorf("ABI %d: the attribute has %d bytes, want %d", a.version, AttrSize(a.version), wantAttr)
		}
	}
	if AttrSize(0) != 0 || AttrSize(-1) != 0 || AttrSize(99) != 24 || Kernel(0) != "" || Kernel(99) != "" {
		t.Error("the ends of the table are wrong")
	}
}
