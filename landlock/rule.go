package landlock

import "slices"

// Ruleset is what one Landlock domain restricts and what it allows. A right that it does not handle
// is allowed everywhere; a right that it handles is denied except where a rule allows it.
type Ruleset struct {
	FS    FSSet    // the rights on files that are handled
	Net   NetSet   // the rights on ports that are handled: no rule allows any
	Scope ScopeSet // the ways out that are shut, without exception
	Rules []Rule
}

// Rule allows rights on a file, or on a directory and everything under it.
type Rule struct {
	Path  string
	Allow FSSet
	File  bool   // Path is not a directory: only FileOnly can be allowed
	Exact bool   // Path has no links: if it has one by now, it is not the path that was meant
	Why   string // the reason, for people
}

// Lost is a right that a Ruleset handles and a kernel does not know.
type Lost struct {
	Right    string // as in "fs.truncate", "net.bind_tcp", "scope.signal"
	NeedsABI int    // the first that has it; 0 if the table has none
	Why      string // what that means for the sandbox
	// Stricter says how the right is lost. If false, something that should be denied stays open; if
	// true, something that a rule allows stays denied.
	Stricter bool
}

// Empty reports whether the ruleset restricts nothing, so that no system call is needed for it.
func (r Ruleset) Empty() bool { return r.FS == 0 && r.Net == 0 && r.Scope == 0 }

// Downgrade returns r as a kernel with that ABI can enforce it, and what was lost. r is not
// changed.
//
// For any r, the result d has these properties:
//
//   - d handles a subset of what r handles and of Rights(abi), and the two are
//     equal but for what is in the list.
//   - Each rule of d allows a subset of what r's rule for that path allows. What r allows and handles and the kernel knows, d allows.
//   - The kernel accepts d: no rule allows what d does not handle, or nothing
//     at all, or on a file what only directories have. Such rules of r are cut or
//     dropped; nothing is lost thereby.
//   - Downgrading again changes nothing, and an older ABI gives a subset of
//     what a newer one does.
//
// Refer is an exception, because an unhandled Refer is not allowed: in any domain the kernel denies
// moving a file to another directory, and only a ruleset that handles Refer can allow it by rules.
// On ABI 1 no rule can, so a ruleset that allows it somewhere loses that, and Lost.Stricter is
// true.
//
// An ABI below 1 is a kernel without Landlock: the result is empty, and everything is lost.
func (r Ruleset) Downgrade(version int) (Ruleset, []Lost) {
	fs, net, scope := Rights(version)
	d := Ruleset{FS: r.FS & fs, Net: r.Net & net, Scope: r.Scope & scope}
	for _, rule := range r.Rules {
		if rule.Allow = rule.fits() & d.FS; rule.Allow != 0 {
			d.Rules = append(d.Rules, rule)
		}
	}
	var lost []Lost
	lost = r.lose(lost, "fs.", uint64(r.FS&^fs), fsBits[:], version)
	lost = r.lose(lost, "net.", uint64(r.Net&^net), netBits[:], version)
	lost = r.lose(lost, "scope.", uint64(r.Scope&^scope), scopeBits[:], version)
	return d, lost
}

// fits returns the rights that the rule's kind of file can have.
func (r Rule) fits() FSSet {
	if r.File {
		return r.Allow & FileOnly
	}
	return r.Allow
}

// lose adds a line for each right of the set to lost.
func (r Ruleset) lose(lost []Lost, kind string, set uint64, bits []bit, version int) []Lost {
	for _, b := range bits {
		if set&b.bit == 0 {
			continue
		}
		set &^= b.bit
		l := Lost{Right: kind + b.name, NeedsABI: since(kind, b.bit), Why: "it stays open: this kernel's Landlock cannot deny it"}
		switch {
		case version < 1:
			l.Why = "it stays open: this kernel has no Landlock"
		case kind == "fs." && FSSet(b.bit) == Refer:
			if !r.allows(Refer) {
				continue // the ruleset allows it nowhere, and the kernel always denies it
			}
			l.Why, l.Stricter = "moving or linking files from directory to directory is denied everywhere", true
		}
		lost = append(lost, l)
	}
	if set != 0 {
		lost = append(lost, Lost{Right: kind + names(set, nil), Why: "it stays open: no known Landlock can deny it"})
	}
	return lost
}

// allows reports whether some rule gives that right.
func (r Ruleset) allows(right FSSet) bool {
	return slices.ContainsFunc(r.Rules, func(rule Rule) bool { return rule.fits()&right != 0 })
}

// since returns the ABI that added the right, 0 for none.
func since(kind string, right uint64) int {
	for _, a := range abis {
		set := uint64(a.fs)
		switch kind {
		case "net.":
			set = uint64(a.net)
		case "scope.":
			set = uint64(a.scope)
		}
		if set&right != 0 {
			return a.version
		}
	}
	return 0
}
