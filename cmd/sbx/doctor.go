package main

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/run"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
	"sbx/wrap/launch"
)

// finding is one line of the doctor's report.
type finding struct{ name, state, detail, help string }

// runDoctor implements `sbx doctor`.
func runDoctor(c *call) int {
	if c.has("apparmor") {
		return c.printProfile()
	}
	found := c.examine()
	if c.has("json") {
		c.std.print(doctorJSON(found))
		return exitOK
	}
	c.std.print(doctorText(found))
	return exitOK
}

// doctorText begins with the verdict. Each missing feature is followed by what to do,
// unless commands can do without it.
func doctorText(found []finding) string {
	var b strings.Builder
	lacks := lacking(found)
	width := 0
	for _, f := range found {
		width = max(width, len(f.name))
	}
	switch {
	case len(lacks) == 0:
		b.WriteString("sbx can enforce everything here\n\n")
	case strings.HasPrefix(lacks[0].name, namespaces):
		b.WriteString("sbx enforces less here: without namespaces nothing can be hidden, and a spec that asks for it is refused\n\n")
	default:
		names := make([]string, len(lacks))
		for i := range lacks {
			names[i] = lacks[i].name
		}
		b.WriteString("missing here: " + strings.Join(names, ", ") + "; sbx can enforce all else\n\n")
	}
	for _, f := range found {
		b.WriteString(strings.TrimRight("  "+pad(f.name, width+2)+pad(f.state, 5)+f.detail, " ") + "\n")
		if f.help != "" && slices.Contains(lacks, f) {
			b.WriteString("      " + f.help + "\n")
		}
	}
	return b.String() + doctorTable
}

// namespaces begins the name of each fallback level with namespaces; one working level is
// enough.
const namespaces = "namespaces, "

// lacking returns the findings that take something from a command, the worst first.
func lacking(found []finding) (lacks []finding) {
	some := slices.ContainsFunc(found, func(f finding) bool { return strings.HasPrefix(f.name, namespaces) && f.state == "yes" })
	for _, f := range found {
		if f.state == "no" && !(some && strings.HasPrefix(f.name, namespaces)) {
			lacks = append(lacks, f)
		}
	}
	return lacks
}

// doctorTable says which kernel introduced what.
const doctorTable = `
what came with which kernel:
  5.6   openat2, pidfd_getfd              5.9   close_range
  5.10  the oldest that namespaces are used on
  5.11  overlay mounts in a user namespace
  5.12  mount_setattr (one by one before) 5.13  Landlock (ABI 1)
  5.14  processes counted by user namespace (limits.pids without a cgroup)
  5.19  Landlock ABI 2: rename and link   6.2   Landlock ABI 3: truncate
  6.7   Landlock ABI 4: TCP ports         6.10  Landlock ABI 5: ioctl on devices
  6.12  Landlock ABI 6: signals and abstract sockets
`

// examine probes the host and tries each fallback level on it.
func (c *commandLine) examine() []finding {
	s, _ := spec.Decode("doctor", []byte(`{"access_mode": "read-only"}`))
	cwd, err := sys.Getwd()
	if err != nil {
		cwd = "/"
	}
	in := spec.Inputs{Home: c.home(), Cwd: cwd, Environ: c.environ, UID: getuid(), Paths: spec.HostPaths{}}
	r, err := spec.Resolve(s, in)
	if err != nil {
		return []finding{{"the current directory", "no", err.Error(), ""}}
	}
	h := host.Probe(&r)
	found := []finding{{"kernel", "", h.Release + " " + h.Arch, ""}}
	if h.Container.Name != "" {
		found = append(found, finding{"container", "", "of " + h.Container.Name + ": what it denies, sbx lacks", ""})
	}
	ways := rungs(&r, h)
	found = append(found, ways...)
	abi := finding{name: "landlock", state: "yes", detail: "ABI " + strconv.Itoa(h.LandlockABI)}
	if h.LandlockABI == 0 {
		abi = finding{"landlock", "no", h.LandlockWhy, "boot with landlock in lsm= (Linux 5.13 or newer)"}
	}
	found = append(found, abi, answer("seccomp filter", h.Seccomp, "a kernel with CONFIG_SECCOMP_FILTER"),
		answer("seccomp notification", host.Listener(), "Linux 6.0 or newer"), answer("ruling on connects", h.Copies, connectsHelp(&h, ways)),
		entryPoint(launch.Inherited().Noted))
	return append(found, limitFindings(in)...)
}

// connectsHelp is empty if there are no namespaces: without them the supervisor decides on
// no connect.
func connectsHelp(h *wrap.Host, ways []finding) string {
	if len(lacking(ways)) > 0 {
		return ""
	}
	return h.CopiesHelp()
}

// entryPoint says how sbx was linked, and what is lost without its own entry point.
func entryPoint(noted bool) finding {
	const name = "built with its entry point"
	if noted {
		return finding{name, "yes", "ignored signals, signal mask and RLIMIT_NOFILE are passed on", ""}
	}
	return finding{name, "no", "commands get neither the signals that the caller ignores nor its signal mask and soft RLIMIT_NOFILE, and see sbx's command line, with --spec-json, in /proc/1/cmdline",
		"build it with make, or with go build -ldflags '-E sbx_entry'"}
}

// rungs tries every fallback level with a launch that stops before the command.
func rungs(r *spec.Resolved, h wrap.Host) []finding {
	var found []finding
	names := [...]string{namespaces + "user", namespaces + "as root"}
	r.BestEffort = []spec.Field{"*"}
	for rung := wrap.RungUser; rung < wrap.RungBare; rung++ {
		try := h
		for below := wrap.RungUser; below < rung; below++ {
			try = try.Without(below, "not tried")
		}
		f := finding{name: names[rung], state: "yes"}
		if why := tryRung(r, try, rung); why != "" {
			f.state, f.detail, f.help = "no", why, rungHelp(&h, rung)
		}
		found = append(found, f)
	}
	return found
}

// tryRung returns why a fallback level does not work here; "" if it does.
func tryRung(r *spec.Resolved, h wrap.Host, rung wrap.Rung) string {
	_, why := run.FindPlan(r, &h, func() string {
		if h.Rungs[rung].State == wrap.No {
			return h.Rungs[rung].Why
		}
		return ""
	})
	return why
}

func answer(name string, a wrap.Answer, help string) finding {
	if a.State == wrap.No {
		return finding{name, "no", a.Why, help}
	}
	return finding{name, "yes", "", ""}
}

func doctorJSON(found []finding) string {
	var b strings.Builder
	b.WriteString("{\"doctor\": [")
	for i, f := range found {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("\n  {\"name\": " + quoteJSON(f.name))
		for _, m := range [][2]string{{"state", f.state}, {"detail", f.detail}, {"help", f.help}} {
			if m[1] != "" {
				b.WriteString(", \"" + m[0] + "\": " + quoteJSON(m[1]))
			}
		}
		b.WriteString("}")
	}
	b.WriteString("\n]}\n")
	return b.String()
}
