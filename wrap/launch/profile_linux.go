package launch

import (
	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap"
)

// rootCaps are the capabilities of a root's sandbox, by which a profile's
// conditions are resolved.
var rootCaps = []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID"}

// profile compiles the OCI profile that the spec names. The side doors are put
// before it: what it allows there stays shut.
func (p *prober) profile() {
	path := p.r.Syscalls
	if path == "" || path == "default" {
		return
	}
	code, err := compileProfile(path, p.r.Network, &p.h)
	if err != nil {
		p.h.ProfileWhy = err.Error()
		return
	}
	p.h.Profile = code
}

func compileProfile(path string, network spec.NetworkMode, h *wrap.Host) ([]byte, error) {
	doc, err := spec.Read(path)
	if err != nil {
		return nil, err
	}
	conditions := seccomp.Conditions{Arch: seccomp.Native, Kernel: h.Kernel}
	if h.UID == 0 {
		conditions.Caps = rootCaps
	}
	f, err := seccomp.Profile(path, doc, conditions)
	if err != nil {
		return nil, err
	}
	f = seccomp.WithSideDoors(f, seccomp.Options{Root: h.UID == 0, Unix: network != spec.NetworkHost})
	insns, err := seccomp.Program(f, seccomp.Native)
	if err != nil {
		return nil, err
	}
	return seccomp.Encode(insns), nil
}
