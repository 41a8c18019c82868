// Package wire has the messages between the supervisor and the relay. They go over a
// SOCK_SEQPACKET socket, one message a packet. The package is pure, and the hot path of a
// start imports it.
//
// The supervisor sends each rule (Rule), each published port of the host with its listening
// socket (Publish), and then, once, the relay's sockets inside (Sockets). It announces the
// destination of each connection before the connection is made (Meant), and says whether
// names are looked up before they are connected to (Unasked). The relay reports which name
// an address of its pool stands for, before its resolver answers with that address (Named);
// which DNS questions it denied (Refused); and how a connection ended (Ended). Neither side
// waits for a reply: the order of the packets suffices.
package wire
