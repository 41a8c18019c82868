package wrap

// placeRun fills the private /run: the entries of the host that stay, a lock directory, and the
// users' own directories.
func (b *layers) placeRun() {
	if !b.privateRun() {
		return
	}
	for _, i := range b.host.run {
		i.soft = true
		b.place(i)
	}
	b.mkdir(parent(ParentPath), 0o755)
	b.write(ParentPath, "", 0)
	if policy := b.req.Agent.Policy; policy != "" {
		b.write(PolicyPath, policy, 0)
	}
	if text := b.req.Agent.Settings; text != "" {
		b.write(settingsPath, text, 0)
	}
	b.placeBroker()
	b.closePart(parent(ParentPath), false, "", "nobody may change what lies here")
	b.add(item{how: itemMade, path: "/run/lock", kind: Dir, perm: 0o1777})
	b.mkdir("/run/user", 0o755)
	for _, uid := range b.h.Users {
		b.add(item{how: itemMade, path: "/run/user/" + itoa(uid), kind: Dir, perm: 0o700})
	}
}

// placeSettings lays the settings that sbx wrote for an agent over the agent's own.
func (b *layers) placeSettings() {
	s := &b.req.Agent
	if s.Settings == "" || !b.privateRun() || b.view.At(s.SettingsAt).Source == "" {
		return
	}
	b.add(item{how: itemLaid, path: s.SettingsAt, source: settingsPath, mode: ModeRO, field: "broker.file"})
}

// privateRun reports whether the sandbox has a /run of its own. Otherwise it shows the host's, as
// the document requests.
func (b *places) privateRun() bool {
	return len(b.private) > 0 && b.covered("/run") && b.view.At("/run").Source == ""
}
