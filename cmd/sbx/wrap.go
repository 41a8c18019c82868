package main

import (
	"strings"
	"unicode/utf8"

	"sbx/spec"
	"sbx/spec/agent"
	"sbx/spec/profile"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// runWrap is `sbx wrap`: a command line is rewritten, and nothing is run.
func runWrap(c *call) int {
	name := c.value("wrapper")
	switch {
	case name == "":
		c.std.say("wrap: no wrapper")
		c.std.say("hint: --wrapper " + strings.Join(wrap.Wrappers(), "|") + "|oci")
		return exitUsage
	case c.has("json") && c.has("stream"):
		c.std.say("wrap: --json is one answer, --stream one for each line")
		return exitUsage
	case (c.has("json") || c.has("stream")) && len(c.rest) > 0:
		c.std.say("wrap: with --json or --stream the command comes on stdin, and not " + quote(c.rest[0]))
		return exitUsage
	case c.has("bundle") != (name == "oci") || name == "oci" && c.has("stream"):
		c.std.say("wrap: --bundle DIR goes with --wrapper oci, one invocation at a time")
		return exitUsage
	case c.has("stream"):
		return c.wrapStream()
	case c.has("json"):
		text, err := spec.ReadFD(c.std.in, "stdin")
		if err != nil {
			return c.answerProblem(err, exitUsage)
		}
		w := wrapping{call: c}
		answer, status := w.answer("stdin", text)
		c.std.print(string(answer) + "\n")
		return status
	case len(c.rest) == 0 || c.rest[0] == "":
		c.std.say("wrap: no command")
		c.std.say("hint: sbx wrap --wrapper bwrap -- command args")
		return exitUsage
	}
	return c.wrapLine()
}

// wrapLine prints the line that runs the command, for a shell.
func (c *call) wrapLine() int {
	cwd, err := getwd()
	if err != nil {
		c.std.problem(&spec.Problem{On: "the current folder", Do: "find it", Why: err.Error()})
		return exitFailed
	}
	inv := wrap.Invocation{Cmd: c.rest[0], Args: c.rest[1:], Env: c.environ, Cwd: cwd}
	w := wrapping{call: c}
	out, audit, err := w.wrap(&inv)
	if err != nil {
		return c.tell(err)
	}
	for _, l := range audit.NotHeld {
		if !c.has("q") {
			c.std.say(strings.TrimPrefix(string(l.Field)+": ", ": ") + "not held by " + audit.WrapperName + ": " + l.Why)
		}
	}
	c.std.print(profile.Line(append([]string{out.Cmd}, out.Args...)) + "\n")
	return exitOK
}

// tell tells a person why nothing was wrapped.
func (c *call) tell(err error) int {
	if usage, ok := err.(usageError); ok {
		c.std.say(usage.Error())
		return exitUsage
	}
	for _, p := range asProblem(err) {
		c.std.problem(p)
	}
	return exitFailed
}

// answerProblem prints the error object of a command that could not be wrapped.
func (c *call) answerProblem(err error, status int) int {
	c.std.print(string(appendProblem(nil, err)) + "\n")
	return status
}

// wrapping makes wrappers for invocations, and keeps the last: a server's
// invocations often differ in their arguments alone.
type wrapping struct {
	*call
	wrapper wrap.Wrapper
	made    string // what of the invocation the wrapper was made for
	left    []wrap.Lack
}

// answer is the answer to one invocation, and the exit status that it stands for.
func (w *wrapping) answer(name string, text []byte) ([]byte, int) {
	inv, hasEnv, err := wrap.DecodeInvocation(name, text)
	if err != nil {
		return appendProblem(nil, err), exitUsage
	}
	if !hasEnv {
		inv.Env = w.environ
	}
	out, audit, err := w.wrap(&inv)
	if err != nil {
		return appendProblem(nil, err), exitFailed
	}
	for _, a := range out.Args {
		if !utf8.ValidString(a) {
			return appendProblem(nil, &spec.Problem{On: quote(a), Do: "answer in JSON", Why: "it has bytes that are no UTF-8, which JSON cannot carry",
				Help: "let the spec name no such path"}), exitFailed
		}
	}
	return wrap.AppendAnswer(nil, &out, &audit), exitOK
}

func (w *wrapping) wrap(inv *wrap.Invocation) (out wrap.Invocation, audit wrap.Audit, err error) {
	if w.value("wrapper") == "oci" {
		return w.bundle(inv)
	}
	if w.wrapper == nil || w.made != madeFor(inv) {
		if w.wrapper, err = w.make(inv); err != nil {
			w.wrapper = nil
			return out, audit, err
		}
		w.made = madeFor(inv)
	}
	out, audit, err = w.wrapper.Wrap(*inv)
	audit.NotHeld = append(audit.NotHeld[:len(audit.NotHeld):len(audit.NotHeld)], w.left...)
	return out, audit, err
}

// madeFor is what of an invocation a wrapper depends on, as a key.
func madeFor(inv *wrap.Invocation) string {
	key := inv.Cwd
	for _, m := range inv.Mounts {
		key += "\x00" + m.Label + "\x00" + m.HostPath + "\x00" + m.GuestPath + "\x00" + m.Mode.String()
	}
	return key
}

// make makes the wrapper for an invocation.
func (w *wrapping) make(inv *wrap.Invocation) (wrap.Wrapper, error) {
	ask, err := w.ask(inv)
	if err != nil {
		return nil, err
	}
	return wrap.NewWrapper(w.value("wrapper"), ask)
}

// ask is what a wrapper is made from, from the documents to the host.
func (w *wrapping) ask(inv *wrap.Invocation) (wrap.Ask, error) {
	cwd := inv.Cwd
	if cwd == "" {
		var err error
		if cwd, err = getwd(); err != nil {
			return wrap.Ask{}, &spec.Problem{On: "the current folder", Do: "find it", Why: err.Error()}
		}
	}
	r, err := w.resolveFor(inv, cwd)
	if err != nil {
		return wrap.Ask{}, err
	}
	host := launch.Probe(r)
	host.Tools = w.ownProgram(host.Tools)
	return wrap.Ask{Resolved: r, Host: &host, Image: w.value("image"), Mounts: inv.Mounts}, nil
}

// ownProgram says where this very program is, which PATH may not know.
func (c *call) ownProgram(tools []wrap.Tool) []wrap.Tool {
	for i := range tools {
		if self := selfPath(); tools[i].Name == "sbx" && self != "" {
			tools[i].Path = self
		}
	}
	return tools
}

// resolveFor is what the documents and the invocation's folders come to.
func (w *wrapping) resolveFor(inv *wrap.Invocation, cwd string) (*spec.Resolved, error) {
	c := *w.call
	c.startDir, c.agent, c.chosen = cwd, agent.Command{}, w.chosen
	docs, err := c.documents()
	if err != nil {
		return nil, err
	}
	if len(docs) == 1 && docs[0].Source.Name == defaultName {
		if c.value("wrapper") == "none" {
			s, err := spec.Decode(defaultName, []byte("{}"))
			if err != nil {
				return nil, err
			}
			return c.resolve([]*spec.SandboxSpec{s})
		}
		at := *inv
		at.Cwd = cwd
		docs[0], w.left = wrap.DefaultSpec(&at)
		return c.resolve(docs)
	}
	r, err := c.resolve(docs)
	if err != nil || len(inv.Mounts) == 0 {
		return r, err
	}
	more, left := wrap.MountSpec(inv, r)
	w.left = left
	more.Source.Dir = cwd
	return c.resolve(append(docs, more))
}

// appendProblem appends {"error": {field, on, reason, help}, "problems": [all of
// them]} on one line.
func appendProblem(dst []byte, err error) []byte {
	object := func(p *spec.Problem) string {
		reason := "cannot " + p.Do
		if p.Why != "" {
			reason += ": " + p.Why
		}
		return "{\"field\": " + quoteJSON(string(p.Field)) + ", \"on\": " + quoteJSON(p.On) + ", \"reason\": " + quoteJSON(reason) + ", \"help\": " + quoteJSON(p.Help) + "}"
	}
	all := asProblem(err)
	dst = append(dst, "{\"error\": "+object(all[0])+", \"problems\": ["...)
	for i, p := range all {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, object(p)...)
	}
	return append(dst, "]}"...)
}
