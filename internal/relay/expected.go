package relay

import (
	"sync"

	"sbx/internal/relay/wire"
)

// maxExpected is how many announced connections may be pending. Beyond it the oldest is
// forgotten: its connect(2) has failed.
const maxExpected = 1 << 14

// expected has the announced connections by token.
type expected struct {
	mu    sync.Mutex
	at    map[uint32]wire.Expected
	order []uint32 // a ring of tokens; next is the one to be overwritten
	next  int
}

// add adds an announced connection. If it forgot one that was still pending, it returns
// the token of that.
func (t *expected) add(m wire.Expected) (old uint32, forgotten bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.at == nil {
		t.at = map[uint32]wire.Expected{}
	}
	if len(t.order) < maxExpected {
		t.order = append(t.order, m.Token)
	} else {
		old = t.order[t.next]
		_, forgotten = t.at[old]
		delete(t.at, old)
		t.order[t.next] = m.Token
		t.next = (t.next + 1) % maxExpected
	}
	t.at[m.Token] = m
	return old, forgotten
}

func (t *expected) take(n uint32) (wire.Expected, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, ok := t.at[n]
	delete(t.at, n)
	return m, ok
}
