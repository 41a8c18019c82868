//go:build !race

package spec

const slowdown = 1
