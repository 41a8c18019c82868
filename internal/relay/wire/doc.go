// Package wire is what the supervisor and the relay tell each other, over a
// SOCK_SEQPACKET socket: one message a packet. It is pure, and imported by a start's
// hot path.
//
// The supervisor tells the relay which rules hold (Rule, once for each), hands it the
// host's ports that lead inside (Publish, with the socket, once for each) and its sockets
// inside (Sockets, with the descriptors, once), and tells it what each connection is for
// (Meant) before the connection is made, and whether names are looked up before that
// (Unasked). The relay tells which name an address
// of its pool stands for (Named) before it answers a resolver with it, which names it
// refused (Refused), and how a connection ended (Ended). Neither waits for the other:
// what matters comes in the order in which it is sent.
package wire
