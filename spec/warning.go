package spec

// Warning is a remark about a document that is valid.
type Warning struct {
	Field Field  // the field concerned; "" for none
	On    string // where: "analyzer.worker:4:5"
	Text  string // one line
}

// String returns the warning on one line.
func (w Warning) String() string {
	if w.On == "" {
		return w.Text
	}
	return w.On + ": " + w.Text
}
