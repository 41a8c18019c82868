package wrap

// placeRun fills the private /run: what of the host's stays, a lock directory and
// the users' own.
func (b *mounter) placeRun() {
	if !b.privateRun() {
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
	if text := b.req.Agent.Settings; text != "" {
		b.op(Mount{Op: OpContent, Source: text, Target: b.in(settingsPath)})
	}
	b.placeBroker()
	b.op(Mount{Op: OpBind, Source: b.in(parent(ParentPath)), Target: b.in(parent(ParentPath)), Mode: ModeRO,
		Why: "nobody may change what lies here"})
	b.op(Mount{Op: OpMkdir, Target: b.in("/run/lock"), Perm: 0o1777})
	b.folder("/run/user", 0o755)
	for _, uid := range b.h.Users {
		b.op(Mount{Op: OpMkdir, Target: b.in("/run/user/" + itoa(uid)), Perm: 0o700})
	}
}

// placeSettings lays an agent's settings over its own.
func (b *mounter) placeSettings() {
	s := &b.req.Agent
	if s.Settings == "" || !b.privateRun() || b.view.At(s.SettingsAt).Source == "" {
		return
	}
	b.op(Mount{Op: OpBind, Source: b.in(settingsPath), Target: b.in(s.SettingsAt), Mode: ModeRO, For: "broker.file"})
	b.lay(s.SettingsAt, "", File, ModeRO, "broker.file")
}

// privateRun tells whether the sandbox has a /run of its own: else it is the host's, as
// the document says.
func (b *places) privateRun() bool {
	return len(b.private) > 0 && b.covered("/run") && b.view.At("/run").Source == ""
}

// tellParent writes what holds into the file of placeRun, now that it is decided.
func (b *builder) tellParent() {
	at := b.in(ParentPath)
	for i := range b.plan.Mounts {
		if m := &b.plan.Mounts[i]; m.Op == OpContent && m.Target == at {
			m.Source = string((&teller{b.places}).parentOf().AppendJSON(make([]byte, 0, 1<<10)))
		}
	}
}
