package wire

import "sbx/internal/reach"

// The sandbox's addresses that lead to the relay. All addresses are local in a
// sandbox's network namespace, so no interface has them.
const (
	// Port is where the relay listens for what a connect was led to it: below 1024,
	// where nothing inside may listen.
	Port = 1
	// DNS is where the resolver listens, at every address.
	DNS = 53
	// Door is where the relay connects to itself, at the loopback alone, to have sockets
	// of the sandbox's network.
	Door = 2
)

// Kind says which message a packet is: its first byte.
type Kind uint8

// The messages.
const (
	KindRule    Kind = iota + 1 // to the relay: a rule of network.allow
	KindSockets                 // to the relay: its sockets inside, as descriptors beside
	KindMeant                   // to the relay: what a connection will be for
	KindPublish                 // to the relay: a port inside, and beside it a socket of the host's that leads there
	KindNamed                   // to the supervisor: a name has an address of the pool
	KindRefused                 // to the supervisor: a name was asked for and refused
	KindEnded                   // to the supervisor: a connection is over
	KindUnasked                 // to the relay: from now on names are not looked up before they are connected to, or are again
)

// Max is the longest message in bytes.
const Max = 1024

// Pool is the address that stands for the nth name, 1 <= n <= PoolSize: of
// 198.18.0.0/15, which is nobody's (RFC 2544).
func Pool(n uint32) reach.IP { return reach.V4(198, 18+byte(n>>16), byte(n>>8), byte(n)) }

// PoolSize is how many names may have an address.
const PoolSize = 1<<17 - 2

// Pooled is the name's number of an address of the pool.
func Pooled(ip reach.IP) (n uint32, ok bool) {
	if !ip.Is4() || ip[12] != 198 || ip[13]&^1 != 18 {
		return 0, false
	}
	return uint32(ip[13]&1)<<16 | uint32(ip[14])<<8 | uint32(ip[15]), true
}

// Token is the address by which the relay recognises a connection that it was told
// of, 0 <= n < Tokens: of 127.64.0.0/10 for a socket of IPv4, of fd73:6278:7265::/96
// for one of IPv6.
func Token(n uint32, v6 bool) reach.IP {
	if v6 {
		return reach.IP{0: 0xfd, 1: 0x73, 2: 0x62, 3: 0x78, 4: 0x72, 5: 0x65, 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
	}
	return reach.V4(127, 64|byte(n>>16), byte(n>>8), byte(n))
}

// Tokens is how many connections may have a token at once.
const Tokens = 1 << 22

// TokenOf is the number of an address that Token made.
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

// Published stands for a token where a connection came in by the nth KindPublish.
func Published(n int) (token uint32) { return Tokens + uint32(n) }

// PublishedOf is the number of a token that Published made.
func PublishedOf(token uint32) (n int, ok bool) { return int(token) - Tokens, token >= Tokens }

// Expected is what a connection is for, by its token.
type Expected struct {
	Token uint32
	IP    reach.IP
	Port  uint16
	Name  string // the name that IP, an address of the pool, stands for; "" for an address
	Plain bool   // no address rule lets the name lead to a special address
}

// Named says that the nth address of the pool is a name's from now on.
type Named struct {
	N    uint32
	Name string
}

// Refused is a name that was asked for and has no rule, or has one and no address outside
// (of type A), or a kind of question that is not answered.
type Refused struct {
	Name string
	Type uint16 // of the question: RFC 1035, 3.2.2
}

// TypeA is the type of questions for an address.
const TypeA = 1

// Outcome is how a connection ended.
type Outcome uint8

// The outcomes.
const (
	Done     Outcome = iota
	NoName           // the name does not resolve
	Special          // the name resolves into addresses that no name may lead to
	NoAnswer         // nobody answers there, or the host's network does not lead there
	Fronted          // TLS asked for another name
	Garbled          // TLS asked for something that cannot be read
	ByProxy          // the host's proxy refused
	Unknown          // nobody told of the connection
	Unmade           // it was told of, and forgotten since it did not come
)

// Ended is a connection that is over.
type Ended struct {
	Token    uint32
	Outcome  Outcome
	NoSNI    bool   // TLS named no host
	Up, Down uint64 // bytes: from the command, to the command
	Detail   string // the other name, the address, the error
}
