// Package defaults has the tables of paths and names that a sandbox hides, protects or keeps in
// view without being asked: secrets, names that make the host run something later, the system's
// own files, services, devices. Each row has its reason.
//
// Its functions compare paths with the tables, as the kernel's file systems compare names, and
// look at no file. Package host finds on a machine what the tables name.
//
// Lists is API: docs/reference/go-api.md lists the names. The rest is for the rooms above, and
// changes with them.
package defaults
