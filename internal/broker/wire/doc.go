// Package wire has the messages between sbx and sbx-broker. They go over descriptor 3 of
// sbx-broker, a stream socket of the family unix: each message is one line of JSON, and may
// carry descriptors. The hot path of a start imports this package.
//
// sbx sends Start, once. The broker replies with Ready, or with Refused as its last message.
// Then sbx sends Sockets, once, with the listening sockets of the sandbox, and End when no
// process of the sandbox is left. The broker replies to End with Summary and ends. In
// between it sends each Call that it decided, each question for a person (Ask), and Failed
// when it denies all further calls. The end of the socket means End to the broker; to sbx it
// means that the broker is gone.
//
// No message has the token: the broker knows only its hash.
package wire
