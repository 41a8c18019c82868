// Package grant says which capabilities a call needs, which of them its step asked for
// and which the sandbox's own spec gives: needed ⊑ requested ⊑ granted. It is pure.
package grant
