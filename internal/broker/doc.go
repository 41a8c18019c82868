// Package broker decides the calls of one execution and carries them out: what runs in
// the sandbox holds no credential and calls no tool; it asks here, by a token.
//
// There is one way: Dispatch. It rebuilds what is known of the call from the broker's own
// state, asks both engines (packages caps and policy), writes the audit's line ahead,
// asks a person where a rule says so, executes, looks at the artifacts, removes the
// secrets and writes what came of it. What executes takes a Verdict, which dispatch.go
// alone makes. Both doors, plain HTTP and MCP, lead there.
package broker
