// Package sys replaces the few functions of package os that sbx needs: the initialisation of
// os costs every sandbox fifty microseconds.
package sys
