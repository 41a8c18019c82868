// Package doc reads and writes documents. Its JSON reader and its YAML reader build the same
// tree of Nodes, with the line and column of each value; its Writer writes JSON.
//
// The JSON reader uses jsontext, the tokenizer of encoding/json from Go 1.27 on, and words its
// own errors, with line and column. The YAML reader is this package's own: of the libraries
// tried, goccy/go-yaml reads some documents differently from YAML 1.2 and needs seconds for
// hostile ones of 64 KiB, and those derived from libyaml report neither column nor cause of an
// error. Tests compare the reader with goccy/go-yaml and libyaml.
//
// Reading takes at most 100 ms for any input of up to 1 MiB.
package doc
