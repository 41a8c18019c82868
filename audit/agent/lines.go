package agent

import "bytes"

// maxLine is the longest line that is read, in bytes.
const maxLine = 4 << 20

// Lines cuts bytes into lines. It copies only lines that span several writes, into a
// buffer of at most Limit bytes. It skips and counts longer lines.
type Lines struct {
	Limit   int
	buf     []byte // the beginning of an incomplete line
	skips   bool   // the current line is longer than Limit
	skipped int    // the number of lines longer than Limit
}

// Cut calls take with each complete line, without its newline. The line is valid only
// during the call.
func (l *Lines) Cut(p []byte, take func(line []byte)) {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.keep(p)
			return
		}
		switch {
		case l.skips:
			l.skips = false
		case len(l.buf) > 0:
			if l.keep(p[:end]); !l.skips {
				take(l.buf)
			}
			l.skips = false
			l.buf = l.buf[:0]
		case end > l.Limit:
			l.skipped++
		default:
			take(p[:end])
		}
		p = p[end+1:]
	}
}

// End calls take with a last line that has no newline.
func (l *Lines) End(take func(line []byte)) {
	if len(l.buf) > 0 && !l.skips {
		take(l.buf)
	}
	l.buf, l.skips = nil, false
}

// keep appends to the incomplete line. The buffer grows fourfold each time, so that the
// old and the new one together stay near Limit.
func (l *Lines) keep(p []byte) {
	if l.skips {
		return
	}
	need := len(l.buf) + len(p)
	if need > l.Limit {
		l.skips = true
		l.skipped++
		l.buf = l.buf[:0]
		return
	}
	if need > cap(l.buf) {
		size := max(16<<10, 4*cap(l.buf))
		for size < need {
			size *= 4
		}
		grown := make([]byte, len(l.buf), min(size, l.Limit))
		copy(grown, l.buf)
		l.buf = grown
	}
	l.buf = append(l.buf, p...)
}
