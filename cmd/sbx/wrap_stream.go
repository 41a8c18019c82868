package main

import (
	"bytes"
	"strconv"

	"sbx/spec"
)

// maxLine is the longest line of a stream, as long as a document may be.
const maxLine = 1 << 20

// wrapStream answers each line of stdin with a line, in order, as they come.
// Lines without an invocation are answered as well: a server that waits for an
// answer must get one.
func (c *call) wrapStream() int {
	w := wrapping{call: c}
	in := make([]byte, 0, 64<<10)
	var out []byte
	line, skipping := 0, false
	for {
		if len(in) == cap(in) {
			in = append(in, 0)[:len(in)]
		}
		n, err := readSome(c.std.in, in[len(in):cap(in)])
		if err != nil {
			c.std.say("wrap: cannot read stdin: " + err.Error())
			return exitFailed
		}
		in = in[:len(in)+n]
		ended := n == 0
		for {
			i := bytes.IndexByte(in, '\n')
			if i < 0 && (!ended || len(in) == 0) {
				break
			}
			rest := in[len(in):]
			text := in
			if i >= 0 {
				text, rest = in[:i], in[i+1:]
			}
			line++
			if !skipping {
				out = append(w.line(out, line, text), '\n')
			}
			skipping = false
			in = in[:copy(in[:cap(in)], rest)]
			if len(out) > maxLine && !c.flush(&out) {
				return exitOK // nobody reads any more
			}
		}
		if len(in) > maxLine {
			if !skipping {
				out = append(appendProblem(out, tooLong(line+1)), '\n')
			}
			in, skipping = in[:0], true
		}
		if !c.flush(&out) || ended {
			return exitOK
		}
	}
}

func (c *call) flush(out *[]byte) bool {
	ok := len(*out) == 0 || c.std.print(string(*out))
	*out = (*out)[:0]
	return ok
}

// line appends the answer to one line.
func (w *wrapping) line(out []byte, number int, text []byte) []byte {
	if len(text) > maxLine {
		return appendProblem(out, tooLong(number))
	}
	answer, _ := w.answer("line "+strconv.Itoa(number), text)
	return append(out, answer...)
}

func tooLong(line int) error {
	return &spec.Problem{On: "line " + strconv.Itoa(line), Do: "take the invocation", Why: "larger than 1 MiB"}
}
