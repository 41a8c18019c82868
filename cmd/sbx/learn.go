package main

import (
	"slices"
	"strconv"
	"strings"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/internal/run"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

func learnVerb() verb {
	return verb{name: "learn", args: "[--] command [args]", run: runLearn,
		short: "run a command, and print the spec that it needs",
		long: "Runs the command as exec does, with a private copy over the rest of what it may\n" +
			"read: what it writes outside of the workspace succeeds, ends with it, and is\n" +
			"looked at. The network is denied and noted. Then the spec that lets the command do\n" +
			"all that goes to stdout, each line with its reason, and each tried on this host;\n" +
			"the command's own stdout goes to stderr, unless --save takes the spec. Secrets\n" +
			"stay hidden: one that is looked for is a comment, never a line.\n\n" +
			"Exit status: the command's, as with exec.",
		example: "sbx learn --save spec.yaml -- npm ci",
		flags: withSpec(noProjectSpec,
			flag{name: "network", arg: "none|host", some: true, field: "network.mode", help: "host: the command has the host's network, and so has the spec"},
			flag{name: "save", arg: "FILE", some: true, help: "put the spec into a new file; stdout is the command's then"},
			flag{name: "effective", arg: "FILE", help: "where the record goes; else $SBX_EFFECTIVE, else the state directory"},
			flag{name: "explain", help: "print denials as they come"},
			flag{name: "q", help: "no warnings and no denials on stderr"},
			flag{name: "v", help: "print on stderr what the command may do, and where the record is"})}
}

// runLearn implements `sbx learn`.
func runLearn(c *call) int {
	dir := -1
	if c.has("save") {
		var err error
		if dir, err = c.openDirOf(c.value("save")); err == nil && isIn(dir, c.value("save")) {
			err = alreadyThere(c.value("save"))
		}
		if err != nil {
			c.std.problem(spec.AsProblems(err)[0])
			return exitRefused
		}
		defer closeDir(dir)
	} else {
		out, err := apartFromStderr(c.std)
		if err != nil {
			c.std.say("learn: cannot keep stdout: " + err.Error())
			return exitRefused
		}
		c.std.out = out
	}
	c.learning = true
	argv := c.rest
	return c.execute(func(x *execution, ended *run.Ended) {
		if !x.ran {
			return
		}
		c.learning, c.rest = false, argv
		found, secrets, err := c.learned(x, ended)
		if err != nil {
			c.std.problem(spec.AsProblems(err)[0])
			return
		}
		c.writeSpec(dir, learnedText(x, argv, ended, &found, secrets))
	})
}

// writeSpec prints the spec, or writes it to a new file in a directory if dir is its descriptor.
func (c *call) writeSpec(dir int, text string) {
	if dir >= 0 {
		name := c.value("save")
		err := writeNew(dir, name, []byte(strings.TrimSuffix(text, "\n")))
		if err == nil {
			c.std.say(spec.Name(name) + " is the spec: sbx exec --spec " + spec.Word(name) + " -- …")
			return
		}
		c.std.problem(spec.AsProblems(err)[0])
	}
	c.std.print(text)
}

// learned returns the spec under which nothing would have been denied, and the secrets
// that the command tried to read.
func (c *call) learned(x *execution, ended *run.Ended) (found run.Suggestion, secrets []run.Denied, err error) {
	list, _ := ended.Record.Violations.List()
	var denied []run.Denied
	for _, d := range append(run.Denials(list), ended.Learned...) {
		if x.prepared.IsSecret(&d) {
			secrets = append(secrets, d)
		} else {
			denied = append(denied, d)
		}
	}
	run.SortDenied(denied)
	r := rerun{call: c, argv: c.rest, documents: x.Documents}
	a, err := r.ask(r.last())
	if err == nil {
		found, err = run.Suggest(a, denied, true, r.ask)
	}
	return found, secrets, err
}

// learnedText returns the spec as YAML, with a comment on the purpose of each line.
func learnedText(x *execution, argv []string, ended *run.Ended, found *run.Suggestion, secrets []run.Denied) string {
	var b strings.Builder
	b.WriteString("# learned from: " + commandText(argv) + " (exit status " + strconv.Itoa(ended.Status) + ")\n")
	if e := layerLine(ended.Record.Enforcement); e.Status != wrap.Enforced && x.deniedFiles(&ended.Record.Violations) {
		b.WriteString("# writes were denied, where there was no copy: what would come after them is not known (" + spec.Shown(e.Reason) + ")\n")
	}
	if x.Resolved.Network == spec.NetworkHost {
		b.WriteString("# the network was the host's: nobody looked at what was reached\n")
	}
	if !slices.Contains(ended.Record.ObservedFiles, "secrets") {
		b.WriteString("# who looks for secrets could not be seen\n")
	}
	if len(x.Documents) > 1 {
		b.WriteString("# this is the last of several specs: give those before it as well\n")
	}
	text := found.Document.AppendYAML(nil, func(field, value string) string {
		change := doc.Change{Field: field, Value: value}
		d, ok := found.For[change.String()]
		if !ok {
			return ""
		}
		note := deniedText(&d)
		opened := d.Target
		if d.Opens != "" {
			opened = d.Opens
			note += "; opens all of " + spec.Name(d.Opens)
			if field == "filesystem.write" && !strings.HasSuffix(d.Target, "/*") {
				note += ": to open less, make " + spec.Name(d.Target) + " first and name that"
			}
		}
		if field == "filesystem.write" {
			note += runLater(x.home(), opened)
		}
		return note
	})
	b.Write(text)
	told := map[string]bool{}
	for i := range secrets {
		d := &secrets[i]
		line := "# a secret was looked for"
		if d.Target != "" {
			line = "# " + spec.Name(d.Target) + " was looked for: it is a secret, and stays hidden"
		}
		if !told[line] {
			b.WriteString(line + "\n")
		}
		told[line] = true
	}
	for i := range found.Left {
		d := &found.Left[i]
		if d.Target == "" && d.Aside {
			b.WriteString("# not all was looked at: the command did " + spec.Shown(d.Action) + "\n")
			continue
		}
		if d.Aside {
			b.WriteString("# not allowed yet: " + deniedText(d) + ": learn once more, with this spec\n")
			continue
		}
		b.WriteString("# no line allows: " + deniedText(d))
		if d.Rule != "" {
			b.WriteString(" (" + spec.Shown(d.Rule) + ")")
		}
		if d.Alone != "" {
			b.WriteString("; if it is made before the start, " + spec.Shown(d.Alone))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// runLater warns about a writable path from which the host may later run code.
func runLater(home, path string) string {
	rows := defaults.RunLater(home, path)
	switch {
	case len(rows) == 0:
		return ""
	case len(rows) > 1:
		return "; with it ~/" + rows[0].Path + " and " + strconv.Itoa(len(rows)-1) + " more by which the host runs programs"
	}
	return "; the host runs it later (" + rows[0].Why + ")"
}

// deniedFiles reports whether the command was denied access to files other than secrets.
func (x *execution) deniedFiles(all *audit.Violations) bool {
	list, _ := all.List()
	return slices.ContainsFunc(run.Denials(list), func(d run.Denied) bool { return d.Kind == "filesystem" && !x.prepared.IsSecret(&d) })
}

// commandText returns a command line as one line.
func commandText(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = spec.Word(word)
	}
	return spec.Shown(strings.Join(words, " "))
}
