// Package spec is the SandboxSpec: the fields of a document, how sbx reads them, and everything
// that follows from the document alone.
//
// Data goes one way. Read takes bytes from a file. Decode turns them into a SandboxSpec, or returns
// an error with file, line and column. Resolve fills in everything that the document implies:
// defaults of an access mode, absolute paths with links resolved, the command's environment.
// Packages above build on the Resolved and never read a document again.
//
//	b, err := spec.Read("spec.yaml")
//	s, err := spec.Decode("spec.yaml", b)
//	r, err := spec.Resolve(s, spec.Inputs{Home: home, Cwd: cwd, Environ: env, Paths: spec.HostPaths{}})
//
// The package does not depend on mechanisms: it asks the kernel only for the bytes of a document
// (Read, ReadFD) and, through Paths, for the links on the paths that a document names. Decoding and
// Resolve are pure; tests pass bytes and maps to them. Package internal/doc reads JSON and YAML
// into the tree that is decoded.
//
// These rules always hold:
//
//   - A document is read as written or rejected. Unknown fields, wrong types,
//     duplicate keys, trailing data, null and impossible values are errors;
//     nothing is guessed, and JSON and YAML have one meaning.
//   - Absent, empty and set are three different things (Opt).
//   - A SandboxSpec is never changed once decoded.
//   - SandboxSpec, Fields, schema.json and the decoder name the same fields
//     and give the same verdicts; tests compare them.
//   - Any input of up to 1 MiB is answered within 100 ms.
//
// The package runs at the start of every sandbox. It imports only small parts of the standard
// library and does nothing at package initialization.
//
// SandboxSpec with its types, and the functions that read and resolve one, are API:
// docs/reference/go-api.md lists the names. The rest is for the packages above, and changes with
// them.
package spec
