package wire

import "sbx/internal/reach"

// The ports of the relay inside the sandbox. In a sandbox's network namespace all
// addresses are local, although no interface has them.
const (
	// Port is where the relay accepts the connections that the supervisor redirects to it. It
	// is below 1024, where no program inside may listen.
	Port = 1
	// DNS is where the resolver listens, at every address.
	DNS = 53
	// Door is where the relay connects to itself, at the loopback only, to get sockets of the
	// sandbox's network namespace.
	Door = 2
)

// Kind is the kind of a message, the first byte of its packet.
type Kind uint8

// The messages.
const (
	KindRule      Kind = iota + 1 // to the relay: a rule of network.allow
	KindSockets                   // to the relay: its sockets inside, as descriptors
	KindExpected                  // to the relay: the destination of a connection to come
	KindPublish                   // to the relay: a port inside, with the host's listening socket that leads there
	KindNamed                     // to the supervisor: a name has got an address of the pool
	KindRefused                   // to the supervisor: a DNS question was denied
	KindEnded                     // to the supervisor: a connection has ended
	KindNoLookups                 // to the relay: whether a DNS question is answered without a lookup on the host
)

// Max is the maximum length of a message in bytes.
const Max = 1024

// Pool returns the address that stands for the nth name, 1 <= n <= PoolSize: an address of
// 198.18.0.0/15, which no host on the internet has (RFC 2544).
func Pool(n uint32) reach.IP { return reach.V4(198, 18+byte(n>>16), byte(n>>8), byte(n)) }

// PoolSize is how many names may have an address.
const PoolSize = 1<<17 - 2

// Pooled returns the number of the name for which an address of the pool stands.
func Pooled(ip reach.IP) (n uint32, ok bool) {
	if !ip.Is4() || ip[12] != 198 || ip[13]&^1 != 18 {
		return 0, false
	}
	return uint32(ip[13]&1)<<16 | uint32(ip[14])<<8 | uint32(ip[15]), true
}

// Token returns the address by which the relay recognizes an announced connection, 0 <= n
// < Tokens: of 127.64.0.0/10 for an IPv4 socket, of fd73:6278:7265::/96 for an IPv6 one.
func Token(n uint32, v6 bool) reach.IP {
	if v6 {
		return reach.IP{0: 0xfd, 1: 0x73, 2: 0x62, 3: 0x78, 4: 0x72, 5: 0x65, 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
	}
	return reach.V4(127, 64|byte(n>>16), byte(n>>8), byte(n))
}

// Tokens is how many connections may have a token at once.
const Tokens = 1 << 22

// TokenOf returns the number of an address that Token returned.
func TokenOf(ip reach.IP) (n uint32, ok bool) {
	n = uint32(ip[13])<<16 | uint32(ip[14])<<8 | uint32(ip[15])
	switch {
	case ip.Is4() && ip[12] == 127 && ip[13]&0xc0 == 0x40:
		n &= Tokens - 1
		return n, true
	case n < Tokens && Token(n, true) == ip:
		return n, true
	}
	return 0, false
}

// Published returns the token of connections to the nth published port.
func Published(n int) (token uint32) { return Tokens + uint32(n) }

// PublishedOf returns the port's number in a token of Published.
func PublishedOf(token uint32) (n int, ok bool) { return int(token) - Tokens, token >= Tokens }

// Expected announces the destination of a connection, by its token.
type Expected struct {
	Token uint32
	IP    reach.IP
	Port  uint16
	Name  string // the name that IP, an address of the pool, stands for; "" for an address
	Plain bool   // no address rule lets the name lead to a special address
}

// Named says that the nth address of the pool stands for a name from now on.
type Named struct {
	N    uint32
	Name string
}

// Refused reports a denied DNS question: the name has no rule; or it has one and no
// address outside (reported as type A); or the type of the question is not answered.
type Refused struct {
	Name string
	Type uint16 // the type of the question (RFC 1035, 3.2.2)
}

// TypeA is the type of a question for an IPv4 address.
const TypeA = 1

// Outcome is how a connection ended.
type Outcome uint8

// The outcomes.
const (
	Done     Outcome = iota
	NoName           // the name does not resolve
	Special          // the name resolves to addresses that no name may lead to
	NoAnswer         // no host answers, or there is no route
	Fronted          // TLS asked for another name
	Garbled          // TLS asked for something that cannot be read
	ByProxy          // the host's proxy denied it
	Unknown          // the connection was not announced
	Unmade           // the connection was announced, never came, and was forgotten
)

// Ended reports the end of a connection.
type Ended struct {
	Token    uint32
	Outcome  Outcome
	NoSNI    bool   // TLS named no host
	Up, Down uint64 // bytes: from the command, to the command
	Detail   string // the other name, the address, the error
}
