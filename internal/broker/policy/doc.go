// Package policy decides a call by rules about its tool, its arguments and the calls before
// it. A rule that denies is the strongest, then one that asks a person, then one that
// allows; if no rule matches, the call is denied. The package is pure, and keeps no state
// between calls.
package policy
