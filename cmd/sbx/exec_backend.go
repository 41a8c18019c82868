package main

import (
	"slices"
	"strconv"
	"strings"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/internal/outer"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
	"sbx/wrap/launch"
)

// native is the backend that needs no other tool: sbx itself.
const native = "native"

// defaultImage is what docker/sandbox makes (make image).
const defaultImage = "sbx-sandbox:latest"

// backed tells whether another tool is to hold the sandbox.
func (c *call) backed() bool {
	v := c.value("backend")
	return v != "" && v != native
}

// checkBackend refuses a backend that is none, before anything else.
func (c *call) checkBackend() error {
	if !c.backed() {
		if c.has("image") {
			return usageError("exec: --image is for docker, podman and runsc")
		}
		return nil
	}
	name := c.value("backend")
	if _, image, ok := wrap.NeedsOf(name); !ok {
		return usageError("exec: --backend is native, bwrap, nsjail, docker, podman or runsc, and not " + spec.Word(name))
	} else if c.has("image") && !image {
		return usageError("exec: --image is for docker, podman and runsc, and not for " + name)
	} else if strings.HasPrefix(c.value("image"), "-") {
		return usageError("exec: --image wants REF, and not " + spec.Word(c.value("image")) + ", which " + name + " would take for a flag")
	}
	for _, f := range []string{"counter", "violations", "keep-fd"} {
		if c.has(f) && !(f == "counter" && c.value(f) == "none") && !(f == "violations" && c.value(f) == "off") {
			return usageError("exec: --" + f + " is for the native backend")
		}
	}
	return nil
}

// runBacked runs the command through another tool: sbx stays outside of it. false
// means that the tool is not to be had, and that the documents let sbx itself do.
func (x *execution) runBacked() (status int, done bool) {
	tool, err := x.findTool()
	if err != nil {
		if x.resolved.Spec.RequireAvailable.Or(true) {
			return x.refuse(err), true
		}
		p := spec.AsProblems(err)[0]
		x.record.Backend = audit.Backend{Asked: x.value("backend"), Used: native, Reason: p.Error()}
		if !x.has("q") {
			x.std.problem(p)
			x.std.say("require_available is false: sbx itself runs the command")
		}
		return 0, false
	}
	x.record.Backend = tool
	x.host.StateWhy = x.unmadeWhy
	if err := launch.Subreap(); err != nil {
		return x.refuse(err), true
	}
	if status, err := x.behind(tool.Image); err != nil {
		if err == errDryRun {
			return exitOK, true
		}
		x.refuse(err)
		return status, true
	}
	if x.held, err = audit.Hold(x.plan.Watch); err != nil {
		return x.refuse(err), true
	}
	x.threads = launch.Threads(0)
	if x.process, err = launch.Begin(x.plan.Opening); err != nil {
		return x.refuse(err), true
	}
	if tool.Image != "" {
		if err := x.removeLater(); err != nil {
			return x.refuse(err), true
		}
	}
	if err := x.launch(); err != nil {
		if step, ok := err.(*launch.StepError); ok {
			err = x.stepProblem(step)
		}
		return x.refuse(err), true
	}
	if status, err := x.release(); err != nil {
		x.refuse(err)
		return status, true
	}
	return x.supervise(), true
}

// behind makes the plan of the tool's own process.
func (x *execution) behind(image string) (int, error) {
	inv := wrap.Invocation{Cmd: x.rest[0], Args: x.rest[1:], Env: x.environ, Cwd: x.resolved.WorkingDir.Real}
	ask := wrap.Ask{Resolved: x.resolved, Host: &x.host, Image: image, Record: x.recordPath(), Sources: x.sourcePaths()}
	if image == "" { // the program is the host's
		if status, err := x.find(x.lookUp()); err != nil {
			return status, err
		}
		inv.Cmd = x.program.Path
		if x.value("backend") == "bwrap" {
			ask.FilterFD = -1
			if !x.has("dry-run") {
				var err error
				if ask.StatusFD, ask.FilterFD, err = x.bwrapFiles(); err != nil {
					return exitRefused, err
				}
			}
		}
	} else {
		ask.Container = "sbx-" + x.record.ID
		ask.Terminal = isTerminal(0) && isTerminal(1)
	}
	if inv.Cwd == "" { // of a job, whose folder is inside
		inv.Cwd = "/work"
	}
	b, err := wrap.Back(x.value("backend"), ask, inv)
	if err != nil {
		return exitRefused, err
	}
	if x.has("dry-run") {
		x.std.print(lineJSON(&b.Line) + "\n")
		return exitOK, errDryRun
	}
	cwd, err := getwd()
	if err != nil {
		return exitRefused, err
	}
	if err := fill(ask.FilterFD, b.Filter); err != nil {
		return exitRefused, err
	}
	b.Plan.Command.Dir = cwd
	x.plan = b.Plan
	x.record.Backend.Unseen = b.Blind
	x.below = b.Below
	return 0, nil
}

// lineJSON is a wrapped invocation as {cmd, args}.
func lineJSON(inv *wrap.Invocation) string {
	w := &doc.Writer{}
	w.Open('{')
	w.KeyStr("cmd", inv.Cmd)
	w.KeyList("args", inv.Args)
	w.Close('}')
	return string(w.B)
}

// findTool looks at the machine, finds the tool of the backend and asks it
// whether it is there, runs, and is young enough.
func (x *execution) findTool() (b audit.Backend, err error) {
	name := x.value("backend")
	b = audit.Backend{Asked: name, Used: name}
	lacks := func(why, help string) (audit.Backend, error) {
		return b, &spec.Problem{On: "--backend " + name, Do: "run the command by it", Why: why, Help: help}
	}
	const orElse = "; or use --backend native, or set require_available: false"
	if outer.Parent() != nil {
		return lacks("this is the inside of another sandbox, where no other tool can make one", "--backend native")
	}
	command, _ := host.LookUp(x.rest[0], x.resolved)
	x.host = host.Probe(x.resolved, command.Files()...)
	needs, image, _ := wrap.NeedsOf(name)
	program := name
	if name == "runsc" {
		program = "docker"
	}
	tool := x.host.Tool(program)
	if tool == nil {
		return lacks(program+" is not on PATH", "install "+program+orElse)
	}
	x.tool = tool
	if ask := asking[name]; ask != nil {
		out, err := askTool(tool.Path, ask, x.environ)
		if err != nil {
			return lacks("it does not answer: "+err.Error(), "start it, or give this user access to it"+orElse)
		}
		if name == "runsc" {
			if !strings.Contains(out, `"runsc"`) {
				return lacks("Docker's engine has no runtime of that name", "add it to the engine's runtimes"+orElse)
			}
			needs = ""
		}
		b.Version = versionIn(out)
		if needs != "" && !atLeast(b.Version, needs) {
			return lacks("it is version "+spec.Word(b.Version)+", and every argument is known from "+needs+" on", "install a younger one"+orElse)
		}
	}
	if !image {
		x.host.PidMax = wrap.Answer{State: wrap.No, Why: name + " sets no pid_max"}
		host.Unbounded(x.resolved, &x.host)
		return b, nil
	}
	if program == "docker" {
		if tool.Drops, err = x.droppedLimits(tool.Path); err != nil {
			return lacks("its engine does not say which limits it holds: "+err.Error(), "use --backend native, or ask for none")
		}
	}
	if b.Image = x.value("image"); b.Image == "" {
		b.Image = defaultImage
	}
	if _, err := askTool(tool.Path, append(slices.Clip(tool.Options), "image", "inspect", "--format", "{{.Id}}", b.Image), x.environ); err != nil {
		return lacks("it has no image "+spec.Word(b.Image)+", and nothing is pulled", "make image builds "+defaultImage+"; --image names another")
	}
	return b, nil
}

// asking is by what a tool tells its version, and whether its engine runs.
// nsjail tells none.
var asking = map[string][]string{
	"bwrap":  {"--version"},
	"podman": {"version", "--format", "{{.Client.Version}}"},
	"docker": {"version", "--format", "{{.Server.Version}}"},
	"runsc":  {"info", "--format", "{{json .Runtimes}}"},
}

// versionIn is the first number with dots in what a tool says of itself.
func versionIn(text string) string {
	for _, word := range strings.Fields(text) {
		if word[0] >= '0' && word[0] <= '9' && strings.Contains(word, ".") {
			return strings.TrimRight(word, ",;")
		}
	}
	return ""
}

// atLeast compares two versions number by number; what follows the numbers does
// not count.
func atLeast(version, least string) bool {
	have, want := strings.Split(version, "."), strings.Split(least, ".")
	for i := range want {
		n := 0
		if i < len(have) {
			n = leading(have[i])
		}
		if w := leading(want[i]); n != w {
			return n > w
		}
	}
	return true
}

// leading is the number that s begins with, -1 for none.
func leading(s string) int {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		return -1
	}
	return n
}

// noteUnsandboxed says of a plan that holds nothing of a spec that asks for
// something what it is. The documents have let it be.
func (x *execution) noteUnsandboxed() {
	p := x.plan
	if p.Rung != wrap.RungBare || p.Filter.On || p.Landlock.FS != 0 || p.Landlock.Net != 0 || p.Landlock.Scope != 0 {
		return
	}
	asked := x.record.Backend.Asked
	if asked == "" {
		asked = native
	}
	const why = "this host has neither namespaces nor Landlock nor seccomp filters"
	x.record.Backend = audit.Backend{Asked: asked, Used: "none", Reason: why}
	x.std.say("the command runs unsandboxed: " + why)
}
