package guard

// queue holds the directories of a tree that the walk has still to enter, those near the root
// first. It keeps names, not descriptors.
type queue struct {
	at   *tree
	list []within
	next int
	room int // how many bytes it may still take
}

// within is a directory: its name, and the index in the queue of its parent directory.
type within struct {
	dir  int32
	name string
}

const withinSize = 24 // without the name's bytes

// begin empties the queue and puts the root of a tree into it.
func (q *queue) begin(t *tree) {
	q.at, q.next, q.list = t, 0, append(q.list[:0], within{-1, ""})
}

// pop returns the path of the next directory.
func (q *queue) pop() (rel string, ok bool) {
	if q.next == len(q.list) {
		return "", false
	}
	q.next++
	return q.path(q.next - 1), true
}

// push adds a subdirectory of the directory that was popped last, if there is room.
func (q *queue) push(name string) bool {
	if q.room -= len(name) + withinSize; q.room < 0 {
		return false
	}
	q.list = append(q.list, within{int32(q.next - 1), name})
	return true
}

func (q *queue) path(i int) string {
	size := 0
	for k := i; k > 0; k = int(q.list[k].dir) {
		size += len(q.list[k].name) + 1
	}
	b := make([]byte, size) // a slash before each name
	for end := size; i > 0; i = int(q.list[i].dir) {
		end -= len(q.list[i].name) + 1
		b[end] = '/'
		copy(b[end+1:], q.list[i].name)
	}
	return string(b[min(1, size):])
}
