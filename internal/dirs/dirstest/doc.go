// Package dirstest makes files and directories for tests and counts descriptors.
package dirstest
