//go:build race

package spec

// The race detector makes everything slower.
const slowdown = 20
