package spec

// Warning is something to know of a document that is taken all the same.
type Warning struct {
	Field Field  // the field it concerns; "" where it is no field's
	On    string // where: "analyzer.worker:4:5"
	Text  string // one line
}

// String is the warning on one line.
func (w Warning) String() string {
	if w.On == "" {
		return w.Text
	}
	return w.On + ": " + w.Text
}
