// Package grant compares the capabilities that a call needs with those that its step
// requests, and these with those that the sandbox's own spec grants: needed ⊑ requested ⊑
// granted. It is pure.
package grant
