// Command bench measures what sbx costs: the start of a sandbox, the memory
// that stays, work inside. Contestants take turns, each sample follows a pause
// in which the kernel tears down the last one's namespaces, and what is said
// is a ratio of one run: absolute figures of a shared machine mean little.
// bench/README.md tells how to read the table.
//
//	go run ./bench -sbx bin/sbx
//	go run ./bench -sbx bin/sbx -quick -only start
//	go run ./bench -sbx bin/sbx -where
package main
