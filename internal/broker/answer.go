package broker

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"sbx/internal/broker/wire"
)

// word is a request of "sbx-broker answer" to a broker: the answer to a question, or an
// empty request for the questions that wait.
type word struct {
	ID  string `json:"id,omitempty"`
	Yes bool   `json:"yes,omitempty"`
}

// Question is a call that waits for a person to allow or deny it.
type Question struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	Args string `json:"args"`
	File string `json:"-"` // the socket of the broker that asks
}

// reply is a broker's reply to a word.
type reply struct {
	Pending  []Question `json:"pending,omitempty"`
	Answered bool       `json:"answered,omitempty"`
}

// sendWord sends a word to the broker at a socket.
func sendWord(file string, w word) (r reply, err error) {
	path, done, err := short(file)
	if err != nil {
		return r, err
	}
	defer done()
	c, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return r, err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if err := json.NewEncoder(c).Encode(w); err != nil {
		return r, err
	}
	return r, json.NewDecoder(io.LimitReader(c, 1<<20)).Decode(&r)
}

// Questions returns the questions that wait in the runs of a state directory.
func Questions(stateDir string) (all []Question) {
	files, _ := filepath.Glob(filepath.Join(stateDir, "runs", "*", wire.SocketName))
	for _, file := range files {
		r, err := sendWord(file, word{})
		if err != nil {
			continue // the broker has ended
		}
		for _, q := range r.Pending {
			q.File = file
			all = append(all, q)
		}
	}
	return all
}

// Answer allows or denies the call that waits.
func (q *Question) Answer(yes bool) error {
	r, err := sendWord(q.File, word{ID: q.ID, Yes: yes})
	if err == nil && !r.Answered {
		err = errors.New("it does not wait any more")
	}
	return err
}

// short returns a path to the same file that is short enough for a socket's address: a
// long one goes through the descriptor of its directory, which done closes.
func short(path string) (at string, done func(), err error) {
	if len(path) <= 100 {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + filepath.Base(path), func() { _ = dir.Close() }, nil
}
