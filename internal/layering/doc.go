// Package layering holds no code: its tests keep the shape of the house.
//
// They read the sources of the whole module, test files excepted, and fail
// where
//
//   - a room imports one above it, or one that its row in rooms does not name;
//   - unsafe is imported outside a file named *_unsafe.go, or the kernel is
//     called outside one named *_linux.go or *_unsafe.go;
//   - a package runs code before main: an init function;
//   - cmd/sbx comes to depend on a package that its start cannot afford, or on
//     any package that testdata/deps.txt does not list (go test
//     ./internal/layering -update writes that list anew);
//   - a file or a function outgrows its bound, a package has no doc.go, an
//     exported name no comment.
//
// Exceptions are rows of the tables in the tests, each with its reason.
package layering
