// Package host collects a wrap.Host from the machine and the workspace: the kernel's
// features, the mounts, the secrets, the protected paths, and the file that each program
// name resolves to. It changes nothing, runs nothing and waits for nothing.
//
// An earlier sandboxed command may have written the workspace. Searches in it are therefore
// bounded in count, depth and size, and follow a symlink only to protect its target.
//
// Only Probe is public API, see docs/reference/go-api.md.
package host
