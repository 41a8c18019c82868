// Package walls is what sbx-init puts around itself in a container before it becomes the
// command: what no configuration of a runtime can say.
package walls
