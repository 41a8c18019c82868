// Package document reads the documents that a person writes for the broker: the Broker
// document with the tools, their secrets and the rules, and the Plan with the steps that an
// execution is to take. Both are JSON or YAML, are read as strictly as a spec, and have a
// JSON Schema. The package runs nothing. On the host it reads only the files that a Broker
// document names: the specs of its tools.
package document
