package wrap

// placeRun fills the private /run: what of the host's stays, a lock folder and
// the users' own.
func (b *builder) placeRun() {
	if len(b.private) == 0 || !b.covered("/run") || b.view.At("/run").Source != "" { // else it is the host's, as the document says
		return
	}
	for _, k := range b.h.Keep {
		b.folder(parent(k.Path), 0o755)
		b.target(k.Path, k.Kind)
		b.put(k.Real, k.Path, k.Kind, ModeRO, FieldPrivate, true)
	}
	b.folder(parent(ParentPath), 0o755)
	b.op(Mount{Op: OpContent, Target: b.in(ParentPath)})
	if policy := b.req.Agent.Policy; policy != "" {
		b.op(Mount{Op: OpContent, Source: policy, Target: b.in(PolicyPath)})
	}
	b.op(Mount{Op: OpBind, Source: b.in(parent(ParentPath)), Target: b.in(parent(ParentPath)), Mode: ModeRO,
		Why: "what holds here is nobody's to change"})
	b.op(Mount{Op: OpMkdir, Target: b.in("/run/lock"), Perm: 0o1777})
	b.folder("/run/user", 0o755)
	for _, uid := range b.h.Users {
		b.op(Mount{Op: OpMkdir, Target: b.in("/run/user/" + itoa(uid)), Perm: 0o700})
	}
}

// tellParent writes what holds into the file of placeRun, now that it is decided.
func (b *builder) tellParent() {
	at := b.in(ParentPath)
	for i := range b.plan.Mounts {
		if m := &b.plan.Mounts[i]; m.Op == OpContent && m.Target == at {
			m.Source = string(b.parentOf().AppendJSON(make([]byte, 0, 1<<10)))
		}
	}
}
