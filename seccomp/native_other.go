//go:build !amd64 && !arm64

package seccomp

// Native is the zero Arch: there is no filter for this architecture.
const Native = Arch(0)
