package host

import (
	"golang.org/x/sys/unix"

	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap"
)

// rootCaps are the capabilities in a sandbox of root, for the conditions of a profile.
var rootCaps = []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID"}

// profile compiles the OCI seccomp profiles that the documents name. Documents that narrow
// each other may name several, next to the default list. The syscall filter of sbx is added
// to each: a call that it denies stays denied.
func (p *prober) profile() {
	lists := append([]string{p.r.Syscalls}, p.r.MoreSyscalls...)
	if lists[0] == "" || len(lists) == 1 && lists[0] == defaultList {
		return
	}
	var parts [][]unix.SockFilter
	for _, path := range lists {
		part, err := compileList(path, p.r.Network, &p.h)
		if err != nil {
			p.h.ProfileWhy = path + ": " + err.Error()
			return
		}
		parts = append(parts, part)
	}
	code, err := seccomp.Join(parts...)
	if err != nil {
		p.h.ProfileWhy = err.Error()
		return
	}
	p.h.Profile = seccomp.Encode(code)
}

// defaultList is the name of the shipped list in the field syscalls.
const defaultList = "default"

func compileList(path string, network spec.NetworkMode, h *wrap.Host) ([]unix.SockFilter, error) {
	doors := seccomp.Options{Root: h.UID == 0, Unix: network != spec.NetworkHost}
	if path == defaultList {
		return seccomp.Program(seccomp.Default(doors), seccomp.Native)
	}
	doc, err := readProfile(path)
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
	return seccomp.Program(seccomp.WithSideDoors(f, doors), seccomp.Native)
}

// readProfile reads a profile's file.
func readProfile(path string) ([]byte, error) {
	fd, err := spec.OpenPlain(path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return spec.ReadFD(fd, path)
}
