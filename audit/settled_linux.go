package audit

// Settled reads a record as it and the machine say together: one that says
// "running" whose supervisor is gone is "lost". Where that cannot be told, as from
// another pid namespace, it stays as written.
//
// A supervisor may write its last word and end between a look at the record and
// the look at the process. What is read once that is gone is the last word.
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

// Lost is the record of a run whose supervisor is gone: its state is "lost", all
// else is as it was.
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
