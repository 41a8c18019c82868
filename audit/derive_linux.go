package audit

// Derive is the view with the state that the machine shows: a record that
// says "running" is "lost" when its supervisor is gone. Where that cannot be
// told, as from another pid namespace, the state stays as written.
func (v View) Derive() View {
	v.State = v.derive(Self())
	return v
}

func (v View) derive(self Process) string {
	if v.State != stateRunning {
		return v.State
	}
	if v.Supervisor().life(self) == lifeEnded {
		return stateLost
	}
	return v.State
}
