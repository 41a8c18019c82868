//go:build !race

package workshop

const slowdown = 1
