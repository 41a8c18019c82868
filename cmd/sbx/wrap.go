package main

import (
	"slices"
	"strings"
	"time"

	"sbx/internal/run"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/spec/agent"
	"sbx/spec/profile"
	"sbx/wrap"
	"sbx/wrap/host"
	"sbx/wrap/outer"
)

// runWrap implements `sbx wrap`, which rewrites a command line and runs nothing.
func runWrap(c *call) int {
	name := c.value("wrapper")
	switch {
	case name == "":
		return c.std.misused("wrap: no wrapper\nhint: --wrapper " + strings.Join(outer.Wrappers(), "|") + "|oci")
	case c.has("json") && c.has("stream"), c.has("template") && (c.has("json") || c.has("stream")):
		return c.std.misused("wrap: --json is one answer, --stream one for each line, --template a reusable template: give one of the three")
	case (c.has("json") || c.has("stream") || c.has("template")) && len(c.rest) > 0:
		return c.std.misused("wrap: with --json, --stream or --template the command does not stand on the command line, as " + spec.Word(c.rest[0]) + " does")
	case (c.has("json") || c.has("stream") || c.has("template")) && slices.Contains(c.values["spec"], "-"):
		return c.std.misused("wrap: --spec - reads stdin, where --json, --stream and --template read the command: give --spec a file, or use --spec-json")
	case c.has("bundle") != (name == "oci") || name == "oci" && (c.has("stream") || c.has("template")):
		return c.std.misused("wrap: --bundle DIR goes with --wrapper oci, one invocation at a time")
	case c.has("stream"):
		return c.wrapStream()
	}
	if err := outer.Choice(name, c.value("image")); err != nil && name != "oci" {
		if c.has("json") || c.has("template") {
			return c.answerProblem(err, exitUsage)
		}
		c.std.failed(err)
		return exitUsage
	}
	switch {
	case c.has("template"):
		return c.wrapTemplate()
	case c.has("json"):
		text, err := spec.ReadFD(c.std.in, "stdin")
		if err != nil {
			return c.answerProblem(outer.Unread(err), exitUsage)
		}
		w := wrapping{call: c}
		answer, status := w.answer(nil, "stdin", text)
		_ = sys.WriteAll(c.std.out, append(answer, '\n'))
		return status
	case len(c.rest) == 0 || c.rest[0] == "":
		return c.std.misused("wrap: no command\nhint: sbx wrap --wrapper bwrap -- command args")
	}
	return c.wrapLine()
}

// wrapLine prints, for a shell, the line that runs the command.
func (c *call) wrapLine() int {
	inv := outer.Invocation{Cmd: c.rest[0], Args: c.rest[1:], Env: c.environ} // the spec decides where it starts
	w := wrapping{call: c, unlisted: true}
	out, audit, err := w.wrap(&inv)
	if err != nil {
		return c.std.failed(err)
	}
	for _, l := range audit.NotHeld {
		c.note(strings.TrimPrefix(string(l.Field)+": ", ": ") + "not held by " + audit.WrapperName + ": " + l.Why)
	}
	c.std.print(profile.Line(append(envArgs(c.environ, out.Env), append([]string{out.Cmd}, out.Args...)...)) + "\n")
	return exitOK
}

// envArgs returns the beginning of a line that sets the environment: env(1) with
// arguments, or nothing if the environment is unchanged. It shows no value of the caller's
// variables.
func envArgs(have, want []string) []string {
	args := []string{"env"}
	for _, v := range have {
		name, _, _ := strings.Cut(v, "=")
		if !slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(w, name+"=") }) {
			args = append(args, "-u", name)
		}
	}
	for _, v := range want {
		if !slices.Contains(have, v) {
			args = append(args, v)
		}
	}
	if len(args) == 1 {
		return nil
	}
	return args
}

// answerProblem prints the error object for a command that could not be wrapped.
func (c *commandLine) answerProblem(err error, status int) int {
	c.std.print(string(appendProblem(nil, err)) + "\n")
	return status
}

// wrapping makes wrappers for invocations. It caches them, since a server's invocations
// often differ only in their arguments.
type wrapping struct {
	*call
	made     map[string]readyWrapper // by wrapperKey
	sources  []string                // the files that the spec was read from
	unlisted bool                    // the output has no audit
}

// readyWrapper is a cached wrapper.
type readyWrapper struct {
	answers *outer.Answers
	at      time.Time
}

// The size of the cache and how long an entry is valid. The directories change, and a new
// protected name must not stay unprotected for longer.
const (
	keptWrappers = 256
	keptFor      = time.Second
)

// answer appends the answer to one invocation, and returns the exit status for it.
func (w *wrapping) answer(dst []byte, name string, text []byte) ([]byte, int) {
	inv, hasEnv, err := outer.DecodeInvocation(name, text)
	if err != nil {
		return appendProblem(dst, w.inLine(name, err)), exitUsage
	}
	if !hasEnv {
		inv.Env = w.own()
	}
	if w.value("wrapper") == "oci" {
		return w.answerBundle(dst, &inv)
	}
	r, err := w.ready(&inv)
	if err == nil {
		dst, err = r.answers.Append(dst, &inv)
	}
	if err != nil {
		return appendProblem(dst, w.inLine(name, err)), wrapStatus(err)
	}
	return dst, exitOK
}

// own returns the environment of sbx itself without duplicates, since an object must not
// have a name twice; getenv(3) finds the same values.
func (w *wrapping) own() []string {
	seen := make(map[string]bool, len(w.environ))
	return slices.DeleteFunc(slices.Clone(w.environ), func(v string) bool {
		name, _, ok := strings.Cut(v, "=")
		again := seen[name]
		seen[name] = true
		return !ok || name == "" || again
	})
}

// ready returns a wrapper for the invocation.
func (w *wrapping) ready(inv *outer.Invocation) (readyWrapper, error) {
	key := wrapperKey(inv)
	now := time.Now()
	if r, ok := w.made[key]; ok && now.Sub(r.at) < keptFor {
		return r, nil
	}
	of, left, err := w.make(inv)
	if err != nil {
		return readyWrapper{}, err
	}
	if w.made == nil || len(w.made) >= keptWrappers {
		w.made = make(map[string]readyWrapper)
	}
	w.made[key] = readyWrapper{outer.NewAnswers(of, left), now}
	return w.made[key], nil
}

// wrap rewrites one invocation.
func (w *wrapping) wrap(inv *outer.Invocation) (out outer.Invocation, audit outer.Audit, err error) {
	if w.value("wrapper") == "oci" {
		return w.bundle(inv)
	}
	of, left, err := w.make(inv)
	if err != nil {
		return out, audit, err
	}
	out, audit, err = of.Wrap(*inv)
	audit.NotHeld = append(audit.NotHeld[:len(audit.NotHeld):len(audit.NotHeld)], left...)
	return out, audit, err
}

// wrapperKey encodes everything in an invocation that its wrapper depends on.
func wrapperKey(inv *outer.Invocation) string {
	key := inv.Cwd
	for _, m := range inv.Mounts {
		key += "\x00" + m.Label + "\x00" + m.HostPath + "\x00" + m.GuestPath + "\x00" + m.Mode.String()
	}
	return key
}

// make makes the wrapper for an invocation. The Lacks are the directories of the
// invocation that it does not show.
func (w *wrapping) make(inv *outer.Invocation) (outer.Wrapper, []outer.Lack, error) {
	ask, left, err := w.ask(inv)
	var of outer.Wrapper
	if err == nil {
		of, err = outer.NewWrapper(w.value("wrapper"), ask)
	}
	if err != nil {
		w.unmake()
		return nil, nil, err
	}
	return of, left, nil
}

// ask returns what a wrapper is made from: the resolved documents and the host.
func (w *wrapping) ask(inv *outer.Invocation) (outer.Ask, []outer.Lack, error) {
	cwd := inv.Cwd
	if cwd == "" {
		var err error
		if cwd, err = currentDir(); err != nil {
			return outer.Ask{}, nil, err
		}
	}
	if err := w.checkDirs(inv.Mounts, spec.HostPaths{}); err != nil {
		return outer.Ask{}, nil, err
	}
	r, left, err := w.resolveFor(inv, cwd)
	if err != nil {
		return outer.Ask{}, nil, byItsFields(err, inv)
	}
	host := w.probe(r, inv.Cmd)
	return outer.Ask{Resolved: r, Host: &host, Image: w.value("image"), Mounts: inv.Mounts, Sources: w.sources, Unlisted: w.unlisted}, left, nil
}

// probe examines the host, and looks for the tool of the wrapper only. The wrapper sbx
// names this program itself, since PATH may not have it.
func (c *commandLine) probe(r *spec.Resolved, program string) wrap.Host {
	tools := outer.ToolsOf(c.value("wrapper"))
	found, _ := host.LookUp(program, r)
	if self := sys.SelfPath(); self != "" && slices.Contains(tools, "sbx") {
		h := host.Survey(r, host.Facts(), found.Files()...)
		h.Tools = []wrap.Tool{{Name: "sbx", Path: self}}
		return h
	}
	return host.ProbeFor(r, tools, found.Files()...)
}

// resolveFor resolves the documents together with the invocation's directories.
func (w *wrapping) resolveFor(inv *outer.Invocation, cwd string) (r *spec.Resolved, left []outer.Lack, err error) {
	c := *w.call
	c.startDir, c.agent, c.chosen, c.made = cwd, agent.Command{}, w.chosen, nil
	defer func() { w.call.made = c.made }()
	docs, err := c.documents()
	if err != nil {
		return nil, nil, err
	}
	if len(docs) == 1 && docs[0].Source.Name == defaultName {
		return c.resolveDefault(inv, cwd)
	}
	w.sources = run.SourceFiles(docs)
	r, err = c.resolve(docs)
	if err != nil || len(inv.Mounts) == 0 {
		return r, nil, err
	}
	more, left := outer.MountSpec(inv, r)
	more.Source.Dir, c.mounting = cwd, true
	r, err = c.resolve(append(docs, more))
	return r, left, err
}
