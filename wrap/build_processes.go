package wrap

// processes limits the number of processes where the spec does not.
func (b *limiter) processes() {
	n := b.h.MostProcesses()
	switch {
	case n == 0 || b.h.Parent != nil: // the limit is not known, or the outer sandbox has one
	case b.plan.Processes != 0:
		b.bounded = ", pid_max"
	case b.h.UID == 0 && b.h.Groups[PIDs].State == Yes:
		b.group(FieldProcesses, PIDs, pidsSettings(int(n)))
		b.bounded = ", " + b.heldBy[FieldProcesses]
	case b.h.UID == 0:
		why := "RLIMIT_NPROC does not count uid 0"
		if b.plan.Has(PidNS) {
			why = b.h.PidMax.Why
		}
		no, _ := b.noGroup(FieldProcesses, PIDs)
		b.fault(FieldProcesses, Enforced, "how many there are is not bounded: "+why+", and "+no)
	default:
		if !b.plan.Has(UserNS) || b.h.Kernel.Less(Version{5, 14}) { // the kernel counts all of the user's processes
			n += b.h.Running
		}
		b.plan.Limits.Procs = n
		b.bounded = ", RLIMIT_NPROC"
	}
}
