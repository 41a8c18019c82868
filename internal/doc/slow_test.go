//go:build !race

package doc

const slowdown = 1
