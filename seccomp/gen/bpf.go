package main

import (
	"encoding/binary"
	"os"
	"path/filepath"

	"sbx/seccomp"
)

// programs writes a file for each architecture: for each of seccomp.Variants in order, the number
// of its instructions as four bytes, then the instructions as the kernel's struct sock_filter,
// eight bytes each; everything is little-endian.
func programs(dir string) error {
	for _, a := range []seccomp.Arch{seccomp.AMD64, seccomp.ARM64} {
		var blob []byte
		for _, o := range seccomp.Variants() {
			prog, err := seccomp.Program(seccomp.Default(o), a)
			if err != nil {
				return err
			}
			blob = binary.LittleEndian.AppendUint32(blob, uint32(len(prog)))
			blob = append(blob, seccomp.Encode(prog)...)
		}
		if err := os.WriteFile(filepath.Join(dir, "default-"+a.String()+".bpf"), blob, 0o644); err != nil {
			return err
		}
	}
	return nil
}
