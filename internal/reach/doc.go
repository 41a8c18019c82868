// Package reach says which hosts and ports a command may reach, and because of
// which line of its spec. It is pure: it asks no file, no network and no clock.
//
// A Reach is what network.allow became once its sets are written out. The
// supervisor asks it for every connect, the resolver for every name, narrowing
// compares two of them, and "sbx check" prints it.
package reach
