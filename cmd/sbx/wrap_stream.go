package main

import (
	"bytes"
	"strconv"
	"strings"

	"sbx/internal/sys"
	"sbx/spec"
)

// maxLine is the maximum length of a line, the same as of a document; maxUnsent is the
// size at which answers to lines that came together are sent.
const (
	maxLine   = 1 << 20
	maxUnsent = 256 << 10
)

// wrapStream answers each line of stdin with a line, in the same order. It also answers
// lines that are not invocations, so that a server that waits for an answer gets one.
func (c *call) wrapStream() int {
	w := wrapping{call: c}
	in := lines{fd: c.std.in}
	var out []byte
	for {
		text, found := in.next()
		if !found || len(out) > maxUnsent {
			if len(out) > 0 && sys.WriteAll(c.std.out, out) != nil {
				return exitOK // the reader has gone
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

// inLine adds the number of a stream's line to problems with it.
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

// lines splits a stream, and holds at most one line of it.
type lines struct {
	fd     int
	buf    []byte // buf[from:] has been read and not returned
	from   int
	number int  // the number of the line that next returned
	inside bool // inside of a line that is too long and was reported
	ended  bool
}

// next returns the next complete line without its end. It returns nil for a line that is
// too long, once, before the end of that line.
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
		if l.inside { // the end of the long line
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

// more reads on; it returns false at the end of the stream.
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
