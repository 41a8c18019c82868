// Package reach decides which hosts and ports a command may connect to, and which line of its
// spec allows that. It is pure: it uses no file, no network and no clock.
//
// A Reach is network.allow with its sets expanded. The supervisor consults it for every
// connect, the resolver for every name; narrowing compares two of them, and "sbx check"
// prints it.
package reach
