// Package decode reads the tree of a document into Go values by tables with a row for each field.
// It words the errors that all kinds of documents have in common: unknown fields, wrong types,
// values out of range.
package decode
