//go:build race

package doc

// The race detector makes everything slower.
const slowdown = 20
