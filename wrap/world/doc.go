// Package world is a made-up machine for tests: a few lines of text name its files and the facts
// that host.Probe would find, and a document becomes a Plan on it.
package world
