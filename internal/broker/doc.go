// Package broker decides the calls that the tools of one execution make, and carries them
// out: a process in the sandbox holds no credential and runs no tool itself; it sends a
// call to the broker, with a token.
//
// There is one way: Dispatch. It makes a request from the broker's own state, asks both
// engines (packages grant and policy), writes the audit's line about the call, asks a
// person if a rule demands it, executes the call, checks the artifacts, removes the secrets
// and writes the audit's line about the result. The executor takes a Verdict, and only
// dispatch.go makes one that allows. Both doors, plain HTTP and MCP, lead there.
package broker
