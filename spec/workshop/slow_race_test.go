//go:build race

package workshop

// The race detector makes everything slower.
const slowdown = 20
