package life

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"sbx/dispatch"
	"sbx/spec"
)

// Limits on retries, the same as Intercore's.
const (
	maxRetries  = 3
	firstPause  = 5 * time.Second
	longestWait = 5 * time.Minute
)

// Again describes the new row of a retry.
type Again struct {
	ID      string
	Attempt int64
	Backoff time.Duration // how long to wait before it is started

	// Set by Escalate.
	Model     string
	Escalated bool // Model differs from the last attempt's
}

// Retry adds a new row for a dispatch that failed or timed out, with the same sandbox. It
// starts nothing.
func (w *World) Retry(l *dispatch.Ledger, at dispatch.Place, id string) (Again, *Job, error) {
	d, err := l.Get(id)
	if err != nil {
		return Again{}, nil, err
	}
	cannot := func(why, help string) error { return problem(id, "retry the dispatch", why, help) }
	switch {
	case !l.Has("retry_count") || !l.Has("parent_dispatch_id"):
		return Again{}, nil, cannot("its ledger keeps no count of retries", "let its owner bring it up to date (ic init)")
	case d.RetryCount.Value >= maxRetries:
		return Again{}, nil, cannot("it was tried "+strconv.FormatInt(d.RetryCount.Value, 10)+" times again, which is the most", "spawn it anew")
	case d.Status != dispatch.Failed && d.Status != dispatch.TimedOut:
		return Again{}, nil, cannot("its status is "+string(d.Status), "only a failed or timed-out dispatch is retried")
	case !w.isKnown(l, &d):
		return Again{}, nil, cannot("its command is not known: its directory is gone, or is another user's", "spawn it anew")
	}
	next := repeat(&d)
	if next.PromptHash, err = w.promptNow(w.jobOf(l, &d), &d); err != nil {
		return Again{}, nil, err
	}
	return w.addRetry(l, at, &d, &next)
}

// repeat returns the row of a retry of d, with the same sandbox.
func repeat(d *dispatch.Dispatch) dispatch.Dispatch {
	return dispatch.Dispatch{ID: dispatch.NewID(), AgentType: d.AgentType, Status: dispatch.Spawned, ProjectDir: d.ProjectDir, PromptFile: d.PromptFile,
		PromptHash: d.PromptHash, Name: d.Name, Model: d.Model, Sandbox: d.Sandbox, SandboxSpec: d.SandboxSpec, TimeoutSec: d.TimeoutSec,
		ScopeID: d.ScopeID, ParentID: d.ParentID, RetryCount: spec.Some(d.RetryCount.Value + 1), ParentDispatchID: spec.Some(d.ID), SpawnDepth: d.SpawnDepth}
}

// promptNow returns the digest of a dispatch's prompt as it is now, since it may have been
// edited. A prompt that changed must not be reached through a symbolic link: the agent
// could have replaced it by a link to a file of the user's.
func (w *World) promptNow(j *Job, d *dispatch.Dispatch) (spec.Opt[string], error) {
	path := d.PromptFile.Value
	if path == "" {
		return d.PromptHash, nil
	}
	if _, refusal := w.Follow(j, path); refusal != nil && refusal.Help != "" {
		refusal.On, refusal.Do = path, "take it for the prompt again"
		return d.PromptHash, refusal
	}
	hash, err := w.HashPrompt(j, path)
	if err != nil || d.PromptHash == spec.Some(hash) {
		return d.PromptHash, nil // a missing prompt may exist when the retry is started
	}
	if realFile(path) != filepath.Clean(path) {
		return d.PromptHash, problem(path, "take it for the prompt again", "a link leads to it, and its text is another than the one that was dispatched", "spawn it anew")
	}
	return spec.Some(hash), nil
}

// addRetry adds next, the row of a retry of d, and returns its job.
func (w *World) addRetry(l *dispatch.Ledger, at dispatch.Place, d, next *dispatch.Dispatch) (Again, *Job, error) {
	j := w.retryJob(at, l, d, next)
	if j == nil {
		return Again{}, nil, problem(d.ID, "try the dispatch again", "its sandbox_spec in "+l.Path()+" is another than the one that it ran under",
			"see who writes that ledger, and spawn it anew")
	}
	next.OutputFile, next.VerdictFile = spec.Some(j.Output), j.VerdictFile()
	if err := l.Insert(next); err != nil {
		return Again{}, nil, err
	}
	return Again{ID: next.ID, Attempt: next.RetryCount.Value, Backoff: backoff(d.RetryCount.Value)}, j, nil
}

// backoff returns the pause before a retry, which doubles with each.
func backoff(retries int64) time.Duration {
	return min(time.Duration(float64(firstPause)*math.Pow(2, float64(max(retries, 0)))), longestWait)
}

// isKnown reports whether the command of a dispatch is known. That of an agent, which has
// a verdict file, follows from its row; any other is only in the dispatch's directory.
func (w *World) isKnown(l *dispatch.Ledger, d *dispatch.Dispatch) bool {
	return d.VerdictFile.Set || w.dirOf(l.Path(), d.ID).readJob() != nil
}

// jobOf returns the job of a dispatch, from its row if it was not started by sbx.
func (w *World) jobOf(l *dispatch.Ledger, d *dispatch.Dispatch) *Job {
	if j := w.dirOf(l.Path(), d.ID).readJob(); j != nil {
		return j
	}
	return &Job{Project: d.ProjectDir, Agent: d.AgentType, Name: d.Name.Value, Model: d.Model.Value, Prompt: d.PromptFile.Value,
		Timeout: time.Duration(max(min(d.TimeoutSec.Value, longest), 0)) * time.Second, Sandbox: d.Sandbox.Value, HasSandbox: d.Sandbox.Set,
		Spec: d.SandboxSpec.Value, HasSpec: d.SandboxSpec.Set}
}

// retryJob returns the job for next, a retry of d. It returns nil if the row's sandbox_spec
// differs from the one that the job was started with: a program that can write the project
// can change a ledger in it, also by triggers.
func (w *World) retryJob(at dispatch.Place, l *dispatch.Ledger, d, next *dispatch.Dispatch) *Job {
	j := w.jobOf(l, d)
	if j.Spec != next.SandboxSpec.Value || j.HasSpec != next.SandboxSpec.Set {
		return nil
	}
	j.Ledger, j.ID, j.Driver, j.LeaveStatus = at, next.ID, false, false
	j.Output = w.dirOf(l.Path(), next.ID).path(outputFile)
	return j
}

// Clear removes the directories of pruned dispatches, and those of spawns that were killed
// before they added a row.
func (w *World) Clear(l *dispatch.Ledger, ids []string) error {
	for _, id := range ids {
		if err := os.RemoveAll(string(w.dirOf(l.Path(), id))); err != nil {
			return problem(string(w.dirOf(l.Path(), id)), "remove the dispatch's directory", dispatch.WithoutPath(err), "")
		}
	}
	rows, err := l.List(dispatch.Filter{})
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, d := range rows {
		known[dirName(d.ID)] = true
	}
	all, err := os.ReadDir(w.dirs(l.Path()))
	if err != nil {
		return nil // no dispatch has a directory
	}
	for _, e := range all {
		f := jobDir(filepath.Join(w.dirs(l.Path()), e.Name()))
		info, err := e.Info()
		if known[e.Name()] || err != nil || time.Since(info.ModTime()) < time.Hour {
			continue
		}
		if who, noted := f.process(); noted && !who.Gone() {
			continue
		}
		_ = os.RemoveAll(string(f)) // if it fails, the next Clear tries again
	}
	return nil
}
