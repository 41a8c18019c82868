package seccomp

// Native is the architecture that this program was built for.
const Native = ARM64
