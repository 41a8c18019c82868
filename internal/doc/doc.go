// Package doc reads and writes documents: one reader of JSON and one of YAML, which
// make the same tree with the place of each value, and one writer.
//
// JSON is read by jsontext, which encoding/json has from Go 1.27 on. What is wrong
// is said in words of ours, with line and column. YAML is read by a reader of
// this package: of the libraries that were tried goccy/go-yaml takes some documents
// for other trees than YAML 1.2 has, and seconds for hostile ones of 64 KiB, and
// those that come from libyaml tell of an error neither column nor cause.
// It is held to goccy/go-yaml and libyaml by tests.
//
// Any input of up to 1 MiB is answered within 100 ms.
package doc
