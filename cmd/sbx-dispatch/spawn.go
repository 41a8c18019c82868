package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"sbx/dispatch"
	"sbx/dispatch/life"
	"sbx/spec"
	"sbx/spec/agent"
)

// spawn implements `sbx dispatch spawn`.
func (p *program) spawn(c *cli.Context) error {
	if err := none(c); err != nil {
		return err
	}
	switch {
	case c.IsSet("scheduled"), c.IsSet("scheduler-session"):
		return usageError("spawn: --scheduled and --scheduler-session belong to Intercore's queue, whose scheduler starts its jobs: ic dispatch spawn --scheduled")
	case c.IsSet("dispatch-sh"):
		return usageError("spawn: --dispatch-sh names Intercore's driver, and here sbx is the driver: ic dispatch spawn --dispatch-sh=scripts/dispatch.sh")
	}
	if p.bare && (len(p.command) == 0 || p.command[0] == "") {
		return usageError("spawn: no command behind --")
	}
	j, row, err := p.request(c)
	if err != nil {
		return err
	}
	if j.Ledger, err = p.world.Ledger(c.String("db"), j); err != nil {
		return err
	}
	row, err = p.world.Spawn(j, row)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		fmt.Printf("{\"id\": \"%s\", \"pid\": %d}\n", row.ID, row.PID.Value)
	} else {
		fmt.Println(row.ID)
	}
	return nil
}

// request returns the job and the row for the command line of spawn.
func (p *program) request(c *cli.Context) (*life.Job, dispatch.Dispatch, error) {
	j := &life.Job{Argv: p.command, Name: c.String("name"), Model: c.String("model"), Agent: c.String("type"), HasSandbox: true, Sandbox: "workspace-write"}
	row := dispatch.Dispatch{Name: given(c, "name"), Model: given(c, "model"), ScopeID: given(c, "scope-id"), ParentID: given(c, "parent-id")}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, row, &spec.Problem{On: "the current directory", Do: "find it", Why: err.Error()}
	}
	j.Cwd, j.Project = cwd, filepath.Clean(life.Absolute(c.String("project"), cwd))
	if !c.IsSet("project") {
		j.Project = cwd
	}
	if _, err := p.world.Project(j); err != nil {
		return nil, row, err
	}
	if c.IsSet("sandbox") {
		if _, ok := spec.ParseAccessMode(c.String("sandbox")); !ok {
			return nil, row, usageError("spawn: --sandbox is read-only, workspace-write or danger-full-access, and not " + spec.Word(c.String("sandbox")))
		}
		j.Sandbox = c.String("sandbox")
	}
	if j.Timeout, err = duration(c, "timeout"); err != nil {
		return nil, row, err
	}
	if j.Timeout > 0 {
		row.TimeoutSec = spec.Some(int64((j.Timeout + time.Second - 1) / time.Second))
	}
	if err := p.readSpec(c, j); err != nil {
		return nil, row, err
	}
	j.Prompt, j.Output = life.Absolute(c.String("prompt-file"), cwd), life.Absolute(c.String("output"), cwd)
	switch {
	case j.Argv == nil && j.Prompt == "":
		return nil, row, usageError("spawn: neither a command behind -- nor a --prompt-file for the agent")
	case j.Agent == "" && j.Argv == nil:
		j.Agent = spec.Codex.String()
	case j.Agent == "":
		j.Agent = typeOf(j.Argv)
	}
	if j.Prompt != "" {
		hash, err := p.world.HashPrompt(j, j.Prompt)
		if err != nil {
			return nil, row, err
		}
		row.PromptFile, row.PromptHash = spec.Some(j.Prompt), spec.Some(hash)
	}
	if j.Output != "" {
		row.OutputFile, row.VerdictFile = spec.Some(j.Output), j.VerdictFile()
	}
	row.AgentType, row.ProjectDir, row.Sandbox = j.Agent, j.Project, spec.Some(j.Sandbox)
	if j.HasSpec {
		row.SandboxSpec = spec.Some(j.Spec)
	}
	if commit := life.BaseCommit(j.Project, os.Getuid(), dispatch.OwnerOf); commit != "" {
		row.BaseRepoCommit = spec.Some(commit)
	}
	return j, row, nil
}

// readSpec stores the spec of the command line in j, unchanged.
func (p *program) readSpec(c *cli.Context, j *life.Job) error {
	if !c.IsSet("sandbox-spec") {
		return nil
	}
	j.Spec, j.HasSpec = c.String("sandbox-spec"), true
	if name, isFile := strings.CutPrefix(j.Spec, "@"); isFile {
		if _, refusal := p.world.Follow(j, life.Absolute(name, j.Cwd)); refusal != nil && refusal.Help != "" {
			refusal.On, refusal.Do = name, "read the spec"
			return refusal
		}
		b, err := spec.Read(name)
		if err != nil {
			return err
		}
		j.Spec = string(b)
	}
	if c.Bool("no-validate") {
		return nil
	}
	return life.Validate(j.Spec)
}

// typeOf returns the agent type of a command in the ledger: the agent that it runs, or the
// name of its program.
func typeOf(argv []string) string {
	if a := agent.Identify(argv, func(string) string { return "" }).Agent; a != 0 {
		return a.String()
	}
	return filepath.Base(argv[0])
}

// drive implements `sbx dispatch driver`.
func (p *program) drive(c *cli.Context) error {
	if err := none(c); err != nil {
		return err
	}
	timeout, err := duration(c, "timeout")
	if err != nil {
		return err
	}
	d := life.Driver{Ledger: c.String("db"), Dir: c.String("cd"), Output: c.String("output-last-message"), Prompt: c.String("prompt-file"),
		Name: c.String("name"), Model: c.String("model"), Sandbox: given(c, "sandbox"), Timeout: timeout, LeaveStatus: c.Bool("leave-status")}
	if d.Ledger == "" {
		d.Ledger = os.Getenv("SBX_DISPATCH_DB")
	}
	p.status = p.world.Drive(d)
	return nil
}
