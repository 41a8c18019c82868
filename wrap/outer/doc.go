// Package outer has other tools (bubblewrap, nsjail, Docker, podman, gVisor, an OCI runtime) run a
// command under a spec: it writes the command line or bundle by which the tool makes the
// sandbox of a wrap.Plan, and names the fields that the tool cannot enforce.
//
//	w, err := outer.NewWrapper("bwrap", outer.Ask{Resolved: resolved, Host: &host})
//	out, audit, err := w.Wrap(outer.Invocation{Cmd: "make", Env: env, Cwd: cwd})
//
// The package is pure, as package wrap is. The golden lines of every tool are in
// testdata/wrappers, the bundles in testdata/bundles.
//
// Wrapper and the types that make one are API: docs/reference/go-api.md lists the names. The rest is
// for the rooms above, and changes with them.
package outer
