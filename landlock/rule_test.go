package landlock

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

var random = rand.New(rand.NewPCG(7, 8))

func TestDowngrade(t *testing.T) {
	work := Rule{Path: "/w", Allow: FSReadExec | FSWrite, Why: "the workspace"}
	file := Rule{Path: "/etc/hosts", Allow: FSRead, File: true}
	want := Ruleset{
		FS: FSAll, Net: NetAll, Scope: ScopeAll,
		Rules: []Rule{{Path: "/", Allow: FSReadExec}, work, file, {Path: "/dev/tty", Allow: IoctlDev, File: true}},
	}
	for _, row := range []struct {
		abi  int
		work FSSet
		tty  bool
		lost []string
	}{
		{1, FSReadExec | FSWrite&^(Refer|Truncate), false, []string{"fs.refer", "fs.truncate", "fs.ioctl_dev", "fs.resolve_unix", "net.bind_tcp", "net.connect_tcp", "net.bind_udp", "net.connect_send_udp", "scope.abstract_unix_socket", "scope.signal"}},
		{2, FSReadExec | FSWrite&^Truncate, false, []string{"fs.truncate", "fs.ioctl_dev", "fs.resolve_unix", "net.bind_tcp", "net.connect_tcp", "net.bind_udp", "net.connect_send_udp", "scope.abstract_unix_socket", "scope.signal"}},
		{3, FSReadExec | FSWrite, false, []string{"fs.ioctl_dev", "fs.resolve_unix", "net.bind_tcp", "net.connect_tcp", "net.bind_udp", "net.connect_send_udp", "scope.abstract_unix_socket", "scope.signal"}},
		{4, FSReadExec | FSWrite, false, []string{"fs.ioctl_dev", "fs.resolve_unix", "net.bind_udp", "net.connect_send_udp", "scope.abstract_unix_socket", "scope.signal"}},
		{5, FSReadExec | FSWrite, true, []string{"fs.resolve_unix", "net.bind_udp", "net.connect_send_udp", "scope.abstract_unix_socket", "scope.signal"}},
		{6, FSReadExec | FSWrite, true, []string{"fs.resolve_unix", "net.bind_udp", "net.connect_send_udp"}},
		{7, FSReadExec | FSWrite, true, []string{"fs.resolve_unix", "net.bind_udp", "net.connect_send_udp"}},
		{8, FSReadExec | FSWrite, true, []string{"fs.resolve_unix", "net.bind_udp", "net.connect_send_udp"}},
		{9, FSReadExec | FSWrite, true, []string{"net.bind_udp", "net.connect_send_udp"}},
		{10, FSReadExec | FSWrite, true, nil},
		{99, FSReadExec | FSWrite, true, nil},
	} {
		got, lost := want.Downgrade(row.abi)
		expect := []Rule{{Path: "/", Allow: FSReadExec}, {Path: "/w", Allow: row.work, Why: "the workspace"}, {Path: "/etc/hosts", Allow: ReadFile, File: true}}
		if row.tty {
			expect = append(expect, Rule{Path: "/dev/tty", Allow: IoctlDev, File: true})
		}
		if !reflect.DeepEqual(got.Rules, expect) {
			t.Errorf("ABI %d: rules %v, want %v", row.abi, got.Rules, expect)
		}
		var rights []string
		for _, l := range lost {
			rights = append(rights, l.Right)
			if l.NeedsABI <= row.abi || l.Why == "" || l.Stricter != (l.Right == "fs.refer") {
				t.Errorf("ABI %d: %+v", row.abi, l)
			}
		}
		if !slices.Equal(rights, row.lost) {
			t.Errorf("ABI %d: lost %v, want %v", row.abi, rights, row.lost)
		}
	}
}

func TestDowngradeToNothing(t *testing.T) {
	want := Ruleset{FS: Execute | Refer, Net: BindTCP, Scope: Signal, Rules: []Rule{{Path: "/", Allow: Execute | Refer}}}
	for _, version := range []int{0, -1} {
		got, lost := want.Downgrade(version)
		if !got.Empty() || len(got.Rules) != 0 || len(lost) != 4 {
			t.Errorf("ABI %d: %+v, lost %v", version, got, lost)
		}
		for _, l := range lost {
			if l.Stricter {
				t.Errorf("ABI %d: nothing is stricter without Landlock, %s is", version, l.Right)
			}
		}
	}
	if _, lost := (Ruleset{FS: Execute | Refer}).Downgrade(1); len(lost) != 0 {
		t.Errorf("who handles refer and allows it nowhere loses nothing at ABI 1, but %v", lost)
	}
	if _, lost := (Ruleset{FS: 1 << 50}).Downgrade(Newest); len(lost) != 1 || lost[0].NeedsABI != 0 || lost[0].Right != "fs.0x4000000000000" {
		t.Errorf("a right from the future: %v", lost)
	}
}

// Random rulesets have the properties that Downgrade documents.
func TestDowngradeKeepsItsPromise(t *testing.T) {
	for range 3000 {
		r := randomRuleset()
		before := clone(r)
		older, olderLost := Ruleset{}, []Lost(nil)
		for version := range Newest + 2 {
			d, lost := r.Downgrade(version)
			if !reflect.DeepEqual(r, before) {
				t.Fatalf("ABI %d: the ruleset itself was changed", version)
			}
			fs, net, scope := Rights(version)
			if d.FS != r.FS&fs || d.Net != r.Net&net || d.Scope != r.Scope&scope {
				t.Fatalf("ABI %d of %+v: %+v handles what it should not, or not enough", version, r, d)
			}
			within(t, d, r)
			accepted(t, d)
			if again, more := d.Downgrade(version); !reflect.DeepEqual(again, d) || len(more) != 0 {
				t.Fatalf("ABI %d: downgraded twice, %+v becomes %+v, losing %v", version, d, again, more)
			}
			if version > 0 {
				within(t, older, d)
				for _, l := range lost {
					if !slices.ContainsFunc(olderLost, func(o Lost) bool { return o.Right == l.Right }) && l.Right != "fs.refer" {
						t.Fatalf("ABI %d loses %s and the one before did not", version, l.Right)
					}
				}
			}
			older, olderLost = d, lost
		}
	}
}

// within fails unless d handles and allows no more than r, rule by rule, and allows everything that
// r allows of the rights that both handle.
func within(t *testing.T, d, r Ruleset) {
	t.Helper()
	if d.FS&^r.FS != 0 || d.Net&^r.Net != 0 || d.Scope&^r.Scope != 0 {
		t.Fatalf("%+v handles more than %+v", d, r)
	}
	i := 0
	for _, rule := range r.Rules {
		kept := FSSet(0)
		if i < len(d.Rules) && d.Rules[i].Path == rule.Path {
			kept = d.Rules[i].Allow
			i++
		}
		if want := rule.fits() & d.FS; kept != want {
			t.Fatalf("%s: %v is left of %v, want %v", rule.Path, kept, rule.Allow, want)
		}
	}
	if i != len(d.Rules) {
		t.Fatalf("%+v has rules that %+v lacks", d, r)
	}
}

// accepted fails for a ruleset that the kernel would reject with EINVAL or ENOMSG.
func accepted(t *testing.T, d Ruleset) {
	t.Helper()
	for _, rule := range d.Rules {
		if rule.Allow == 0 || rule.Allow&^d.FS != 0 || rule.File && rule.Allow&^FileOnly != 0 {
			t.Fatalf("the kernel refuses %+v", rule)
		}
	}
}

func randomRuleset() Ruleset {
	some := func() uint64 { return random.Uint64() & random.Uint64() }
	r := Ruleset{FS: FSAll & FSSet(random.Uint64()), Net: NetAll & NetSet(some()), Scope: ScopeAll & ScopeSet(some())}
	for i := range random.IntN(6) {
		r.Rules = append(r.Rules, Rule{Path: "/" + string(rune('a'+i)), Allow: FSAll & FSSet(some()), File: random.IntN(2) == 0})
	}
	return r
}

func clone(r Ruleset) Ruleset {
	r.Rules = slices.Clone(r.Rules)
	return r
}
