// Package relay carries the connections of one sandbox to the hosts that its spec
// allows, and answers its questions for names; and it carries in those that are made to
// the ports that the spec publishes. It is the program sbx-egress, which runs outside of
// the sandbox, beside the supervisor, and confines itself.
//
// Whether a connection is allowed is not decided here: the supervisor sees each
// connect, decides, and tells the relay by a token what it is for (package wire).
// The relay sees to what the supervisor cannot see: that a name does not lead to an
// address that no name may lead to, and that TLS asks for the same name.
//
// All that comes out of the sandbox is hostile. So all of it is bounded: the
// connections at once, the names that are kept, the questions a second, the bytes that
// are read before a connection is judged. Bytes go from socket to socket through a
// pipe (splice) and are not looked at, and a connection that is idle holds no buffer.
//
// Each goroutine ends when the connection to the supervisor does.
package relay
