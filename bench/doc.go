// Command bench measures what sbx costs: the start of a sandbox, the memory that it holds, work
// inside. Contestants take turns. Before each sample there is a pause in which the kernel tears
// down the namespaces of the last one. The results are ratios within one run, since absolute
// figures of a shared machine mean little. bench/README.md explains how to read the table.
//
//	go run ./bench -sbx bin/sbx
//	go run ./bench -sbx bin/sbx -quick -only start
//	go run ./bench -sbx bin/sbx -where
package main
