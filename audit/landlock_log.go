package audit

import (
	"bytes"
	"strconv"
	"strings"
)

// These are the types of the kernel's audit records about Landlock (linux/audit.h,
// Documentation/admin-guide/LSM/landlock.rst).
const (
	recordSyscall        = 1300
	recordLandlockAccess = 1423
	recordLandlockDomain = 1424
)

// maxDenials is how many records of one event are kept; the kernel writes a few.
const maxDenials = 16

// Denial is a denial by Landlock, as the kernel's audit log reports it.
type Denial struct {
	Blockers []string // what was missing: "fs.read_file", "scope.signal"
	Target   string   // a path inside, or the process that a signal was for
	PID      int      // outside of the sandbox; 0 if the event does not have it
	Program  string

	domain uint64
}

// Denials collects the denials by the domains of one process from audit records. The records of
// an event arrive one after another, and the record that names the creator of a domain arrives
// after the domain's first denial.
type Denials struct {
	Creator int // the process that made the domains

	ours    map[uint64]bool
	event   string // the time and serial number of the present event
	denials []Denial
	pid     int
	program string
}

// Record adds a record. If the record begins another event, Record returns the event before.
func (d *Denials) Record(kind uint16, text []byte) (before []Denial) {
	event, fields, ok := cutEvent(text)
	if !ok {
		return nil
	}
	if event != d.event {
		before = d.Flush()
		d.event = event
	}
	switch kind {
	case recordLandlockAccess:
		if denial, ok := parseDenial(fields); ok && len(d.denials) < maxDenials {
			d.denials = append(d.denials, denial)
		}
	case recordLandlockDomain:
		d.allocated(fields)
	case recordSyscall:
		for f := range fieldsOf(fields) {
			switch f.key {
			case "pid":
				d.pid, _ = strconv.Atoi(f.text())
			case "comm":
				d.program = f.text()
			}
		}
	}
	return before
}

// Flush ends the present event.
func (d *Denials) Flush() (out []Denial) {
	for _, n := range d.denials {
		if d.ours[n.domain] {
			n.PID, n.Program = d.pid, d.program
			out = append(out, n)
		}
	}
	d.event, d.denials, d.pid, d.program = "", d.denials[:0], 0, ""
	return out
}

// allocated notes a domain that the creator made.
func (d *Denials) allocated(fields []byte) {
	var domain uint64
	status, pid := "", 0
	for f := range fieldsOf(fields) {
		switch f.key {
		case "domain":
			domain = f.domain()
		case "status":
			status = f.text()
		case "pid":
			pid, _ = strconv.Atoi(f.text())
		}
	}
	if status != "allocated" || domain == 0 || pid != d.Creator || len(d.ours) >= maxDenials {
		return
	}
	if d.ours == nil {
		d.ours = map[uint64]bool{}
	}
	d.ours[domain] = true
}

func parseDenial(fields []byte) (n Denial, ok bool) {
	for f := range fieldsOf(fields) {
		switch f.key {
		case "domain":
			n.domain = f.domain()
		case "blockers":
			n.Blockers = strings.Split(f.text(), ",")
		case "path", "name", "ocomm", "daddr":
			n.Target = f.text()
		case "dest":
			n.Target = strings.TrimPrefix(n.Target+":"+f.text(), ":")
		}
	}
	return n, n.domain != 0 && len(n.Blockers) > 0
}

// cutEvent splits "audit(1729738800.268:30): fields".
func cutEvent(text []byte) (event string, fields []byte, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte("audit("))
	if !ok {
		return "", nil, false
	}
	head, fields, ok := bytes.Cut(rest, []byte("): "))
	return string(head), bytes.TrimRight(fields, "\x00\n"), ok && len(head) > 0 && len(head) < 64
}

// field is a field of a record. The kernel writes a value with blanks, quotes or control
// characters as hexadecimal digits without quotes (audit_log_untrustedstring).
type field struct {
	key, value string
	quoted     bool
}

// fieldsOf iterates over the fields of a record.
func fieldsOf(b []byte) func(func(field) bool) {
	return func(yield func(field) bool) {
		for {
			b = bytes.TrimLeft(b, " ")
			key, rest, ok := bytes.Cut(b, []byte{'='})
			if !ok {
				return
			}
			if i := bytes.LastIndexByte(key, ' '); i >= 0 { // a word that belongs to no field
				key = key[i+1:]
			}
			f := field{key: string(key)}
			var value []byte
			if f.quoted = len(rest) > 0 && rest[0] == '"'; f.quoted {
				value, b, _ = bytes.Cut(rest[1:], []byte{'"'})
			} else {
				value, b, _ = bytes.Cut(rest, []byte{' '})
			}
			f.value = string(value)
			if !yield(f) {
				return
			}
		}
	}
}

func (f field) domain() uint64 {
	n, err := strconv.ParseUint(f.value, 16, 64)
	if err != nil {
		return 0
	}
	return n
}

// text returns the value of a field before the kernel encoded it.
func (f field) text() string {
	switch f.key {
	case "path", "name", "comm", "ocomm":
		if f.quoted {
			break
		}
		return unhex(f.value)
	}
	return f.value
}

// unhex decodes hexadecimal digits. It returns "" for others, such as "(null)" or "<no_memory>".
func unhex(s string) string {
	out := make([]byte, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		b, err := strconv.ParseUint(s[i:i+2], 16, 8)
		if err != nil {
			return ""
		}
		out = append(out, byte(b))
	}
	if len(s)%2 != 0 {
		return ""
	}
	return string(out)
}
