// Package defaults has the tables of paths and names that a sandbox hides, protects or shows by
// default: secrets, names that could later run code on the host, the system's own files, services,
// devices. Each row has its reason.
//
// Its functions compare paths with the tables in the way that file systems compare names, and look
// at no file. Package host finds on a machine the files that the tables name.
//
// Lists is API: docs/reference/go-api.md lists the names. Everything else is for the rooms above,
// and changes with them.
package defaults
