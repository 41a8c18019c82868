// Package document reads what a person writes for the broker: the Broker document, which
// has the tools, their secrets and the rules, and the Plan, which has the steps that an
// execution is to take. Both are JSON or YAML, read as strictly as a spec is, and have a
// JSON Schema. The package runs nothing, and asks the host for nothing but the files that
// a Broker document names: the specs of its tools.
package document
