package main

import (
	"slices"

	"sbx/internal/doc"
	"sbx/internal/run"
)

var specFlags = []flag{
	{name: "spec", arg: "FILE", many: true, help: "a SandboxSpec, JSON or YAML; - is stdin; each narrows the one before"},
	{name: "spec-json", arg: "JSON", many: true, help: "a SandboxSpec itself"},
	{name: "best-effort", arg: "FIELD", many: true, help: "let FIELD be enforced less than requested, as best_effort does"},
	{name: "write", arg: "PATH", many: true, some: true, field: "filesystem.write", help: "let the command write PATH"},
	{name: "read", arg: "PATH", many: true, some: true, field: "filesystem.read", help: "let the command also read PATH, a secret too"},
	{name: "hide", arg: "PATH", many: true, some: true, field: "filesystem.hide", help: "hide PATH from the command"},
	{name: "allow", arg: "HOST:PORT|@SET", many: true, some: true, field: "network.allow", help: "let the command reach HOST:PORT"},
	{name: "env", arg: "NAME[=VALUE]", many: true, some: true, field: "environment.set", help: "set a variable, or pass the caller's NAME whatever it looks like"},
	{name: "max-commands", arg: "N", some: true, field: "max_commands", help: "how many programs may be started"},
	{name: "timeout", arg: "T", some: true, field: "limits.timeout", help: "how long the command may run, as 30s or 10m"},
	{name: "broker", arg: "FILE", field: "broker.file", help: "the document of a broker, which runs tools for the command"},
	{name: "plan", arg: "FILE", field: "broker.plan", help: "the plan of steps that the broker enforces"},
	{name: "input", arg: "DIR", some: true, help: "the job layout: DIR is /input, read-only"},
	{name: "output", arg: "DIR", some: true, help: "the job layout: DIR is /output, writable"},
	{name: "workshop", arg: "FILE", help: "a workshop's file: its sandbox is that of its workers"},
	{name: "worker", arg: "FILE", many: true, help: "a worker's file; a further one is the worker that it delegates to"},
	{name: "agent", arg: "FILE", help: "an agent's .md file: the agent may use its tools"},
	{name: "profile", arg: "NAME", help: "a profile: a named starting point that the specs narrow"},
}

var noProjectSpec = flag{name: "no-project-spec", help: "leave the project's own .sbx/spec.yaml aside"}

func withSpec(more ...flag) []flag { return append(append([]flag{}, specFlags...), more...) }

// table lists the commands in the order of the help.
func table() []verb {
	return []verb{
		{name: "exec", also: "run", args: "[--] command [args]", run: runExec,
			short: "run a command under a SandboxSpec",
			long: "Runs the command under the spec, passes stdin, stdout, stderr, the terminal,\n" +
				"signals and the exit status through, and leaves an effective record. Without\n" +
				"a spec it is {\"access_mode\": \"workspace-write\"} in the current directory, narrowed\n" +
				"by .sbx/spec.yaml of the project (sbx help trust); inside another\n" +
				"sandbox of sbx it is that sandbox's own.\n\n" +
				"Exit status: the command's own; 128+n if signal n ended it; 124 if a limit\n" +
				"did; 125 if sbx refused or failed before it ran; 126 if it was found but could\n" +
				"not be executed; 127 if it was not found; 2 for a bad command line.",
			example: "sbx exec --spec spec.json -- make test",
			flags: withSpec(noProjectSpec,
				flag{name: "effective", arg: "FILE", help: "where the record goes; else $SBX_EFFECTIVE, else the state directory"},
				flag{name: "counter", arg: "notify|ptrace|none", help: "how programs are counted; the best that the host has"},
				flag{name: "violations", arg: "on|names|off", some: true, help: "how denials are described: names leaves opens out, off all"},
				flag{name: "backend", arg: "NAME", some: true, help: "native, or the tool that holds the sandbox: bwrap, nsjail, docker, podman, runsc"},
				flag{name: "image", arg: "REF", some: true, help: "the image for docker, podman and runsc; " + run.DefaultImage + ", and nothing is pulled"},
				flag{name: "keep-fd", arg: "N", many: true, help: "let the command have descriptor N"},
				flag{name: "progress", arg: "N", help: "write the use so far to descriptor N, a JSON line at each change"},
				flag{name: "dry-run", help: "print the plan as JSON and run nothing"},
				flag{name: "timings", help: "print the phases of the start and their times on stderr"},
				flag{name: "explain", help: "print denials as they come, also where stdout and stderr are one"},
				flag{name: "q", help: "no warnings and no denials on stderr"},
				flag{name: "v", help: "print on stderr what the command may do, and where the record is"})},
		learnVerb(),
		{name: "check", args: "[-- command [args]]", run: runCheck,
			short: "show how a spec would be enforced on this host",
			long: "Reads the spec, makes the plan for this host and prints what each field\n" +
				"becomes. Nothing is run but a trial of the launch itself.\n\nExit status: 0 if exec would start the command, 1 if not.",
			example: "sbx check --spec spec.json",
			flags: withSpec(noProjectSpec,
				flag{name: "json", help: "one JSON object"},
				flag{name: "path", arg: "PATH", help: "print the access to this path alone, and the reason"},
				flag{name: "migrate", arg: "FILE", help: "print the new form of a worker's file in the old style"})},
		{name: "wrap", args: "[-- command [args]]", run: runWrap,
			short: "print a command line that runs under another sandbox",
			long: "Prints the command line that runs the command in the sandbox NAME: sbx itself,\n" +
				"bubblewrap, nsjail, Docker, gVisor as Docker's runtime, podman, or none. Nothing\n" +
				"is run. What NAME cannot hold of the spec is an error, or, where best_effort\n" +
				"lists it, reported on stderr and in the audit. Without a spec it is workspace-write\n" +
				"over the working directory and the rw mounts, with no network.\n\n" +
				"With --json the command comes on stdin, as {cmd, args, env, cwd, mounts}, and\n" +
				"{wrapped, audit} or {error, problems} goes to stdout; with --stream one line\n" +
				"for each line.\n\n" +
				"Exit status: 0; 1 if the spec does not hold or NAME cannot hold it; 2 for a bad\n" +
				"command line or invocation.",
			example: "echo '{\"cmd\": \"make\", \"cwd\": \"/srv/app\"}' | sbx wrap --wrapper bwrap --json",
			flags: withSpec(
				flag{name: "wrapper", arg: "NAME", help: "sbx, bwrap, nsjail, runsc, docker, podman, none or oci"},
				flag{name: "bundle", arg: "DIR", help: "where --wrapper oci writes config.json and rootfs, for runc and crun"},
				flag{name: "image", arg: "REF", help: "the image for docker, podman and runsc; nothing is pulled"},
				flag{name: "json", help: "one invocation on stdin, one answer on stdout"},
				flag{name: "stream", help: "an invocation a line, an answer a line"},
				flag{name: "template", help: "print a reusable template for {cwd, mounts} read from stdin"},
				flag{name: "q", help: "no warnings on stderr"})},
		{name: "profile", args: "list | show NAME | flags AGENT|FILE.md", run: runProfile,
			short: "the profiles of agents, and their permission flags",
			long: "Lists the profiles, shows one, or prints the permission flags for an agent's\n" +
				"command line as one line for a shell. AGENT is the name of an agent or of a\n" +
				"launch point, FILE.md an agent's own file, whose front matter is the truth for\n" +
				"its tools. Profiles are built in, changed by ~/.config/sbx/profiles.yaml and\n" +
				"narrowed by .sbx/profiles.yaml of the project.\n\n" +
				"ORCHESTRATOR_SANDBOX_ENABLED=false turns profiles off, for debugging.\n\n" +
				"Exit status: 0; 1 for an agent or a profile that is not known, or a file that\n" +
				"does not hold; 2 for a bad command line.",
			example: "sbx profile flags code-reviewer --project .",
			flags: []flag{{name: "project", arg: "DIR", some: true, help: "the project; the current directory"},
				{name: "point", arg: "NAME", some: true, help: "the launch point; its profile holds, if it has one"},
				{name: "agent", arg: "claude|codex|gemini", help: "whose command line; claude"},
				{name: "inside", help: "the agent runs under sbx exec: no sandbox of its own"},
				{name: "json", help: "flags: a list; otherwise one JSON object"},
				{name: "v", help: "print on stderr which profile was chosen, and why"}}},
		trustVerb(), showVerb(), watchVerb(), runsVerb(), specVerb(),
		{name: "doctor", run: runDoctor,
			short:   "the host's mechanisms, and how to get the missing ones",
			long:    "Tries each fallback level on this host for real, and prints what each field of\na spec would get.",
			example: "sbx doctor",
			flags: []flag{{name: "json", help: "one JSON object"},
				{name: "apparmor", help: "print an AppArmor profile that lets this binary create user namespaces"}}},
		{name: "schema", args: "[spec | record]", run: runSchema,
			short:   "print the JSON Schema of the spec or the record",
			long:    "Prints the JSON Schema (2020-12) of the spec, the default, or of the record.",
			example: "sbx schema record"},
		{name: "completion", args: "bash | zsh | fish", run: runCompletion,
			short:   "print a shell's completion script",
			long:    "Prints the completion script of a shell.",
			example: "sbx completion bash > /etc/bash_completion.d/sbx"},
		{name: "man", args: "[COMMAND | 5 spec | 5 record]", run: runMan,
			short:   "print a manual page",
			long:    "Prints the manual page of sbx, of one command, of the spec or of the record in man(7) format.",
			example: "sbx man exec | man -l -"},
	}
}

// later are the names that are reserved for future commands.
var later = []string{"selftest", "broker", "oci"}

func find(name string) *verb {
	verbs := table()
	for i := range verbs {
		if verbs[i].name == name || verbs[i].also == name && name != "" {
			return &verbs[i]
		}
	}
	return nil
}

// names returns the command's own name and its second name.
func (v *verb) names() []string {
	if v.also == "" {
		return []string{v.name}
	}
	return []string{v.name, v.also}
}

func nearVerb(name string) string {
	if name == "dispatch" {
		return ": sbx-dispatch is a program of its own (sbx dispatch --help), next to sbx or in PATH"
	}
	if slices.Contains(later, name) {
		return ": it is not there yet"
	}
	var known []string
	for _, v := range table() {
		known = append(known, v.names()...)
	}
	if v := doc.NearestWord(name, append(known, "help", "version")); v != "" {
		return " (did you mean " + v + "?)"
	}
	return ""
}
