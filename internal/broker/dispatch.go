package broker

import (
	"crypto/sha256"
	"crypto/subtle"
	"strconv"
	"strings"
	"time"

	"sbx/internal/broker/caps"
	"sbx/internal/broker/document"
	"sbx/internal/broker/policy"
	"sbx/internal/broker/wire"
)

// Dispatch is the only way for a call. The caller learns nothing beyond the Result.
func (b *Broker) Dispatch(token string, call *document.Call) *Result {
	if !b.Authentic(token) {
		return &Result{Kind: NoToken, Reason: "no token of this execution"}
	}
	v := b.decide(call)
	if v.allowed != nil {
		defer b.executor.running.Done()
	}
	if v.effect == policy.Ask {
		b.ask(v)
	}
	b.decided(v)
	if v.effect != policy.Allow {
		return &Result{Kind: v.kind, Rule: v.rule, Reason: v.reason, AllowWith: v.allowWith}
	}
	began := time.Now()
	r, why := b.executor.carryOut(v)
	r.Wall = time.Since(began)
	r.Rule = v.rule
	b.redactor.result(r)
	if err := b.done(v, r, why); err != nil {
		b.fail(err)
		r = &Result{Kind: Closed, Reason: "the call ran, and what came of it could not be written down"}
	}
	b.settle(v, r)
	if r.Kind != Allowed {
		b.tell(&wire.Call{ID: v.id, At: now(), Tool: v.tool, Step: v.step, Verdict: "error", Rule: v.rule, Reason: r.Reason})
	}
	return r
}

// Authentic reports whether a token is the execution's and has not expired.
func (b *Broker) Authentic(token string) bool {
	sum := sha256.Sum256([]byte(token))
	same := subtle.ConstantTimeCompare(sum[:], b.token[:]) == 1
	return same && time.Now().Before(b.until)
}

// decide decides a call, marks its step as running and writes the audit's line about it.
func (b *Broker) decide(call *document.Call) *Verdict {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &Verdict{tool: b.redactor.quoted(call.Tool), effect: policy.Deny, kind: Forbidden, rules: -1}
	v.id = b.nextID()
	if b.failed != "" {
		v.kind, v.rule, v.reason = Closed, "audit", b.failed
		return v
	}
	if b.calls > b.doc.MaxCalls { // these have no line in the audit: a loop would fill the disk
		v.rule, v.reason, v.allowWith = "max_calls", "the execution has made all of its calls", "max_calls: more in the Broker document"
		return v
	}
	r, denied := b.rebuild(call)
	if denied == nil {
		denied = b.askEngines(v, r, call)
	}
	if denied != nil {
		v.kind, v.rule, v.reason, v.allowWith = denied.kind, denied.rule, denied.reason, denied.with
	}
	if r != nil {
		v.needs = caps.Texts(r.needed)
		if r.step >= 0 {
			v.step = b.plan.Steps[r.step].ID
		}
	}
	b.redactor.verdict(v)
	if err := b.asked(call, v); err != nil {
		b.close(err)
		v.effect, v.kind, v.rule, v.reason, v.allowed = policy.Deny, Closed, "audit", err.Error(), nil
		return v
	}
	if v.effect != policy.Deny { // the step is taken under the lock, before another call can ask for it
		v.allowed = r
		b.executor.running.Add(1)
		if r.step >= 0 {
			b.steps[r.step] = running
		}
		b.used[v.rules].Calls++
	}
	return v
}

// ask has a person decide, and puts the answer into the verdict.
func (b *Broker) ask(v *Verdict) {
	yes, by := b.questions.ask(v)
	if err := b.audit.line("answered", v.id, answer(yes, by)); err != nil {
		b.fail(err)
		yes, by = false, err.Error()
	}
	if yes && time.Now().Before(b.until) {
		v.effect = policy.Allow
		return
	}
	v.effect, v.kind, v.allowed = policy.Deny, Forbidden, b.release(v)
	v.reason, v.allowWith = "a person was asked: "+by, "sbx-broker answer "+v.id+" yes, when it asks again"
}

// release gives back the step and the count of a call that is not carried out.
func (b *Broker) release(v *Verdict) *request {
	b.mu.Lock()
	defer b.mu.Unlock()
	if v.allowed.step >= 0 {
		b.steps[v.allowed.step] = todo
	}
	b.used[v.rules].Calls--
	return nil
}

// settle notes the result of a call that ran.
func (b *Broker) settle(v *Verdict, r *Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used[v.rules].Bytes += int64(len(r.Stdout) + len(r.Stderr))
	if v.allowed.step < 0 {
		return
	}
	if b.steps[v.allowed.step] = done; r.Kind != Allowed || r.Status.Value != 0 {
		b.steps[v.allowed.step] = failed
	}
}

// decided counts a call and reports it to sbx.
func (b *Broker) decided(v *Verdict) {
	b.mu.Lock()
	denied := v.effect != policy.Allow
	b.count(v.tool, denied)
	told := b.calls <= b.doc.MaxCalls
	b.mu.Unlock()
	if told {
		b.tell(&wire.Call{ID: v.id, At: now(), Tool: v.tool, Step: v.step, Verdict: v.effect.String(), Rule: v.rule, Reason: v.reason, AllowWith: v.allowWith})
	}
}

// nextID returns the next call's id: the last part of the run's id, and a number.
func (b *Broker) nextID() string {
	b.calls++
	tail := b.start.Execution[strings.LastIndexByte(b.start.Execution, '-')+1:]
	return tail + "-" + strconv.FormatInt(b.calls, 10)
}
