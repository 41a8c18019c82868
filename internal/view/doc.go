// Package view says what a command may do at a path of its sandbox, and because
// of what. A Tree is made of layers, each laid over those below: what the document
// lets be read, what it lets be written, its mounts, what is hidden, what is
// protected. Whoever makes one knows documents and host; the package asks neither.
package view
