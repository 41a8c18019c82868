package launch

import "sbx/wrap"

// noSuchCall is the number of a system call that no kernel has: ENOSYS.
const noSuchCall = 0x3fff

// startWith is Start for tests that change the steps to make one fail.
func startWith(p *wrap.Plan, o Options, change func(*Programs)) (*Process, error) {
	// The socket's number is known only once it exists, so the steps are generated twice and
	// changed in the same way each time.
	programs := Steps(p, input(p, o, 3))
	change(&programs)
	pr, err := begin(p.Opening, programs.Opening)
	if err != nil {
		return nil, err
	}
	pr.remounts = remounting{needed: p.Remount, bound: len(p.Caps) == 0}
	programs = Steps(p, input(p, o, pr.childSock))
	change(&programs)
	return pr, pr.load(programs)
}

// spoil makes a step fail with ENOSYS, whatever it was.
func spoil(s *Step) { s.Do, s.Call = DoCall, noSuchCall }

// Steps turns a Plan into its programs. It is pure.
func Steps(p *wrap.Plan, in Input) Programs {
	programs := loaded(p, in)
	if p.Has(wrap.PidNS) {
		programs.Opening = Open(&p.Opening)
	}
	return programs
}
