// Package policy decides a call by rules over its tool, its arguments and what was used
// so far: a rule that denies wins, then one that asks a person, then one that allows;
// without any the call is denied. It is pure, and keeps nothing between two calls.
package policy
