package run

import (
	"slices"
	"strconv"
	"strings"

	"sbx/audit"
	"sbx/audit/guard"
	"sbx/internal/doc"
	"sbx/internal/enclosing"
	"sbx/internal/sys"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
	"sbx/wrap/launch"
	"sbx/wrap/outer"
)

// native is the name of sbx itself as a backend, in the record.
const native = "native"

// DefaultImage is the image that docker/sandbox builds (make image).
const DefaultImage = "sbx-sandbox:latest"

// backend is another tool that makes the sandbox and runs the command.
type backend struct {
	*planned
	tool    *wrap.Tool // nil for sbx itself
	line    *outer.Invocation
	view    view.Tree // the files that a container shows
	status  int       // the file in which bwrap reports whether the command was started; 0 for none
	handed  []int     // descriptors that the tool inherits
	below   int       // how many processes of the tool's own wait for the command
	remover *remover  // removes a container; nil if there is none
}

// planBackend plans a run by another tool; sbx stays outside of its sandbox. used is false
// if the tool is not available and the documents allow sbx itself as the fallback.
func (x *Prepared) planBackend() (used bool, err error) {
	tool, err := x.backend.detect()
	if err != nil {
		if x.Resolved.Spec.RequireAvailable.Or(true) {
			return true, err
		}
		p := spec.AsProblems(err)[0]
		x.backend.tool = nil
		x.record.Backend = audit.Backend{Asked: x.Backend, Used: native, Reason: p.Error()}
		if !x.Voice.Quiet {
			x.Voice.Problem(p)
			x.Voice.Say("require_available is false: sbx itself runs the command")
		}
		return false, nil
	}
	x.record.Backend = tool
	x.Host.StateWhy = x.unmadeWhy
	if err := launch.Subreap(); err != nil {
		return true, err
	}
	return true, x.toolPlan(tool.Image)
}

// beginBackend clones the child that executes the tool.
func (x *Prepared) beginBackend() (err error) {
	if x.held, err = guard.Hold(x.Plan.Watch); err != nil {
		return err
	}
	x.threads = launch.Threads(0)
	if x.process, err = launch.Begin(x.Plan.Opening); err != nil {
		return err
	}
	if x.record.Backend.Image != "" {
		return x.backend.startRemover()
	}
	return nil
}

// toolPlan makes the plan for the tool's own process.
func (x *Prepared) toolPlan(image string) error {
	inv := outer.Invocation{Cmd: x.Argv[0], Args: x.Argv[1:], Env: x.Inputs.Environ, Cwd: x.Resolved.WorkingDir.Real}
	ask := outer.Ask{Resolved: x.Resolved, Host: &x.Host, Image: image, Record: x.RecordPath(), Sources: x.sourcePaths()}
	if image == "" { // without an image the command is a program of the host
		if err := x.setProgram(x.lookUp()); err != nil {
			return err
		}
		inv.Cmd = x.Program.Path
		if x.Backend == "bwrap" {
			ask.FilterFD = -1
			if !x.DryRun {
				var err error
				if ask.StatusFD, ask.FilterFD, err = x.backend.bwrapFiles(); err != nil {
					return err
				}
			}
		}
	} else {
		ask.Container = "sbx-" + x.record.ID
		ask.Terminal = sys.IsTerminal(0) && sys.IsTerminal(1)
	}
	if outer.ReachesBroker(x.Backend) {
		if err := x.broker.startForContainer(&ask); err != nil {
			return err
		}
	}
	if inv.Cwd == "" { // a job has its working directory inside the container
		inv.Cwd = "/work"
	}
	b, err := outer.NewBackendPlan(x.Backend, ask, inv)
	if err != nil {
		return err
	}
	x.backend.line = &b.Line
	if x.DryRun {
		return nil
	}
	cwd, err := sys.Getwd()
	if err != nil {
		return err
	}
	if err := fillFile(ask.FilterFD, b.Filter); err != nil {
		return err
	}
	b.Plan.Command.Dir = cwd
	x.Plan = b.Plan
	x.backend.view = b.View
	x.record.Backend.Unseen = b.Blind
	x.backend.below = b.Below
	return nil
}

// Line returns the tool's command line as JSON {cmd, args}; "" if sbx itself runs the
// command.
func (x *Prepared) Line() string {
	if x.backend.line == nil {
		return ""
	}
	w := &doc.Writer{}
	w.Open('{')
	w.KeyStr("cmd", x.backend.line.Cmd)
	w.KeyList("args", x.backend.line.Args)
	w.Close('}')
	return string(w.B)
}

// seen returns the files that the command sees.
func (x *Prepared) seen() *view.Tree {
	if x.backend.tool != nil {
		return &x.backend.view
	}
	return x.Plan.Seen()
}

// detect looks for the tool on this machine, and asks it whether it runs and which version it is.
func (x *backend) detect() (b audit.Backend, err error) {
	name := x.Backend
	b = audit.Backend{Asked: name, Used: name}
	lacks := func(why, help string) (audit.Backend, error) {
		return b, &spec.Problem{On: "--backend " + name, Do: "run the command by it", Why: why, Help: help}
	}
	const orElse = "; or use --backend native, or set require_available: false"
	if enclosing.Parent() != nil {
		return lacks("this is the inside of another sandbox, where no other tool can make one", "--backend native")
	}
	command, _ := host.LookUp(x.Argv[0], x.Resolved)
	x.Host = host.Probe(x.Resolved, command.Files()...)
	needs, image, _ := outer.NeedsOf(name)
	program := name
	if name == "runsc" {
		program = "docker"
	}
	tool := x.Host.Tool(program)
	if tool == nil {
		return lacks(program+" is not on PATH", "install "+program+orElse)
	}
	x.tool = tool
	if ask := asking[name]; ask != nil {
		out, err := askTool(tool.Path, ask, x.Inputs.Environ)
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
		x.Host.PidMax = wrap.Answer{State: wrap.No, Why: name + " sets no pid_max"}
		host.Unbounded(x.Resolved, &x.Host)
		return b, nil
	}
	if program == "docker" {
		if tool.Drops, err = x.droppedLimits(tool.Path); err != nil {
			return lacks("its engine does not say which limits it holds: "+err.Error(), "use --backend native, or ask for none")
		}
	}
	if b.Image = x.Image; b.Image == "" {
		b.Image = DefaultImage
	}
	if _, err := askTool(tool.Path, append(slices.Clip(tool.Options), "image", "inspect", "--format", "{{.Id}}", b.Image), x.Inputs.Environ); err != nil {
		return lacks("it has no image "+spec.Word(b.Image)+", and nothing is pulled", "make image builds "+DefaultImage+"; --image names another")
	}
	return b, nil
}

// asking has the arguments with which each tool prints its version or the state of its
// engine. nsjail prints no version.
var asking = map[string][]string{
	"bwrap":  {"--version"},
	"podman": {"version", "--format", "{{.Client.Version}}"},
	"docker": {"version", "--format", "{{.Server.Version}}"},
	"runsc":  {"info", "--format", "{{json .Runtimes}}"},
}

// versionIn returns the first number with dots in a tool's output.
func versionIn(text string) string {
	for _, word := range strings.Fields(text) {
		if word[0] >= '0' && word[0] <= '9' && strings.Contains(word, ".") {
			return strings.TrimRight(word, ",;")
		}
	}
	return ""
}

// atLeast compares two versions number by number; a suffix after the numbers is ignored.
func atLeast(version, least string) bool {
	have, want := strings.Split(version, "."), strings.Split(least, ".")
	for i := range want {
		n := 0
		if i < len(have) {
			n = leadingNumber(have[i])
		}
		if w := leadingNumber(want[i]); n != w {
			return n > w
		}
	}
	return true
}

// leadingNumber returns the number at the start of s; -1 for none.
func leadingNumber(s string) int {
	n, err := strconv.Atoi(doc.LeadingDigits(s))
	if err != nil {
		return -1
	}
	return n
}
