// Package wire is what sbx and sbx-broker tell each other over descriptor 3 of
// sbx-broker, a stream socket of the family unix: one message a line of JSON, with
// descriptors beside it. It is imported by a start's hot path.
//
// sbx sends Start, once; the answer is Ready or Refused, and after Refused nothing more
// comes. Then it sends Sockets, once, with the listening sockets of the sandbox beside
// it, and End when nothing of the sandbox is left: the answer is Summary, and the broker
// ends. In between the broker tells of each Call that it decided, of each question for a
// person (Ask), and when it can decide none any more (Failed). A socket that ends says
// End as well; a broker that is gone shows by the end of the socket.
//
// The token is in none of them: the broker knows its hash alone.
package wire
