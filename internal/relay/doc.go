// Package relay carries the connections of one sandbox to the hosts that its spec allows,
// answers its DNS questions, and carries connections from the host to the ports that the
// spec publishes. It is the program sbx-egress, which runs outside of the sandbox and
// confines itself.
//
// The relay does not decide which connection is allowed: the supervisor sees each
// connect(2), decides, and announces the destination to the relay by a token (package wire).
// The relay checks two things that the supervisor cannot see: that a name does not resolve
// to an address that no name may lead to, and that a TLS client names the same host.
//
// Everything that comes out of the sandbox is hostile. So all of it is bounded: the open
// connections, the names in the pool, the questions a second, the bytes that are read before
// a connection is checked. Bytes go from socket to socket through a pipe (splice) unread, and
// an idle connection holds no buffer.
//
// Each goroutine ends when the connection to the supervisor does.
package relay
