package relay

import (
	"sync"

	"sbx/internal/relay/wire"
)

// maxMeant is how many connections may be told of and not be there yet. The oldest is
// forgotten then: its connect failed.
const maxMeant = 1 << 14

// meant is what connections will be for.
type meant struct {
	mu    sync.Mutex
	at    map[uint32]wire.Meant
	order []uint32 // a ring of tokens, the next to be overwritten at next
	next  int
}

// add says which token was forgotten, if one was that no connection has come with.
func (t *meant) add(m wire.Meant) (old uint32, forgotten bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.at == nil {
		t.at = map[uint32]wire.Meant{}
	}
	if len(t.order) < maxMeant {
		t.order = append(t.order, m.Token)
	} else {
		old = t.order[t.next]
		_, forgotten = t.at[old]
		delete(t.at, old)
		t.order[t.next] = m.Token
		t.next = (t.next + 1) % maxMeant
	}
	t.at[m.Token] = m
	return old, forgotten
}

func (t *meant) take(n uint32) (wire.Meant, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, ok := t.at[n]
	delete(t.at, n)
	return m, ok
}
