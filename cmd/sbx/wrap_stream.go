package main

import (
	"bytes"
	"strconv"
	"strings"

	"sbx/internal/sys"
	"sbx/spec"
)

// maxLine is the longest line of a stream, as long as a document may be; maxUnsent
// is how much is kept of the answers to lines that came at once.
const (
	maxLine   = 1 << 20
	maxUnsent = 256 << 10
)

// wrapStream answers each line of stdin with a line, in order, as they come.
// Lines without an invocation are answered as well: a server that waits for an
// answer must get one.
func (c *call) wrapStream() int {
	w := wrapping{call: c}
	in := lines{fd: c.std.in}
	var out []byte
	for {
		text, found := in.next()
		if !found || len(out) > maxUnsent {
			if len(out) > 0 && !sys.WriteAll(c.std.out, out) {
				return exitOK // nobody reads any more
			}
			out = out[:0]
		}
		if !found {
			more, err := in.more()
			if err != nil {
				c.std.say("wrap: cannot read stdin: " + err.Error())
				return exitFailed
			}
			if !more {
				return exitOK
			}
			continue
		}
		name := "line " + strconv.Itoa(in.number)
		if text == nil {
			out = appendProblem(out, &spec.Problem{On: name, Do: "take the invocation", Why: "larger than 1 MiB"})
		} else {
			out, _ = w.answer(out, name, text)
		}
		out = append(out, '\n')
	}
}

// inLine tells of problems with a line of a stream by which it is.
func (w *wrapping) inLine(name string, err error) error {
	if !w.has("stream") {
		return err
	}
	all := spec.Problems{}
	for _, p := range spec.AsProblems(err) {
		in := *p
		if in.On == "" {
			in.On = name
		} else if !strings.HasPrefix(in.On, name) {
			in.On = name + ": " + in.On
		}
		all = append(all, &in)
	}
	return all
}

// lines takes a stream apart, holding a line of it at most.
type lines struct {
	fd     int
	buf    []byte // what is read and not taken: buf[from:]
	from   int
	number int  // of the line that next gave
	inside bool // of a line that is too long, and told of
	ended  bool
}

// next is the next line that is there, without its end; nil for one that is too
// long, which is told once, without waiting for its end.
func (l *lines) next() (text []byte, found bool) {
	for {
		rest := l.buf[l.from:]
		i := bytes.IndexByte(rest, '\n')
		switch {
		case i < 0 && len(rest) > maxLine:
			l.from = len(l.buf)
			if l.inside {
				return nil, false
			}
			l.inside = true
			l.number++
			return nil, true
		case i < 0 && (!l.ended || len(rest) == 0):
			return nil, false
		case i < 0:
			i = len(rest)
			l.from = len(l.buf)
		default:
			l.from += i + 1
		}
		if l.inside { // the end of the long one
			l.inside = false
			continue
		}
		l.number++
		if i > maxLine {
			return nil, true
		}
		return rest[:i:i], true
	}
}

// more reads on; false at the end of the stream.
func (l *lines) more() (bool, error) {
	if l.ended {
		return false, nil
	}
	l.buf = l.buf[:copy(l.buf, l.buf[l.from:])]
	l.from = 0
	if len(l.buf) == cap(l.buf) {
		grown := make([]byte, len(l.buf), max(64<<10, 2*cap(l.buf)))
		copy(grown, l.buf)
		l.buf = grown
	}
	n, err := sys.ReadSome(l.fd, l.buf[len(l.buf):cap(l.buf)])
	l.buf = l.buf[:len(l.buf)+n]
	l.ended = n == 0
	return true, err
}
