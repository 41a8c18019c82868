package audit

// Settled reads a record and changes the state "running" to "lost" if the supervisor is gone. If
// that cannot be decided, as in another pid namespace, the record stays as written.
//
// A supervisor may write the final record and end after the record was read and before the
// process is looked for. So Settled reads the record again once the process is gone.
func Settled(read func() ([]byte, error)) ([]byte, View, error) {
	return settled(read, Process.Gone)
}

func settled(read func() ([]byte, error), gone func(Process) bool) (b []byte, v View, err error) {
	for last := false; ; last = true {
		if b, err = read(); err != nil {
			return nil, View{}, err
		}
		if v, err = Parse(b); err != nil {
			return b, View{}, err
		}
		if v.State != StateRunning || !gone(v.Supervisor()) {
			return b, v, nil
		}
		if last {
			b = v.Lost()
			v.State = StateLost
			return b, v, nil
		}
	}
}

// Lost returns the record with the state "lost" and everything else unchanged.
func (v View) Lost() []byte {
	w := recordWriter(nil)
	w.Open('{')
	for _, m := range v.Node.Members {
		w.Key(m.Key)
		if m.Key == "state" {
			w.Str(StateLost)
			continue
		}
		w.B = m.Value.AppendJSON(w.B, nil)
	}
	w.Close('}')
	return append(w.B, '\n')
}
