package relay

import (
	"strings"
	"sync"

	"sbx/internal/reach"
	"sbx/internal/relay/wire"
)

// maxNames is how many names may get an address of wire.Pool in one run.
const maxNames = 1 << 14

// names are the names that have an address of the pool; list[i] has the address number
// i+1.
type names struct {
	mu     sync.Mutex
	number map[string]uint32
	list   []string
}

// assign gives a name an address of the pool and reports it to the supervisor before it
// returns. ok is false if the pool is full.
func (t *names) assign(name string, c *control) (n uint32, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n, ok := t.number[name]; ok {
		return n, true
	}
	if len(t.list) == maxNames {
		return 0, false
	}
	n = uint32(len(t.list)) + 1
	if c.send((&wire.Named{N: n, Name: name}).Append(nil)) != nil {
		return 0, false
	}
	if t.number == nil {
		t.number = map[string]uint32{}
	}
	t.number[name] = n
	t.list = append(t.list, name)
	return n, true
}

// nameOf returns the name of address number n.
func (t *names) nameOf(n uint32) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n == 0 || n > uint32(len(t.list)) {
		return "", false
	}
	return t.list[n-1], true
}

// hostName normalizes a name to the form that rules have: lower case, without the dot at
// the end. ok is false if s is not a host name.
func hostName(s string) (name string, ok bool) {
	name = strings.ToLower(strings.TrimSuffix(s, "."))
	e, err := reach.Parse(name + ":1")
	return name, err == nil && e.Name == name && !strings.HasPrefix(name, "*")
}

// shown replaces the bytes of a name that must not reach a terminal.
func shown(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; c >= ' ' && c < 0x7f {
			b.WriteByte(c)
		} else {
			b.WriteByte('?')
		}
	}
	return b.String()
}
