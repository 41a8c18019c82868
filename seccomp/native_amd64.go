package seccomp

// Native is the architecture for which this program was built.
const Native = AMD64
