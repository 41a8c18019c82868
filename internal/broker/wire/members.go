package wire

func (d *Document) walk(w *walker) {
	w.str("name", &d.Name)
	w.str("dir", &d.Dir)
	w.bytes("text", &d.Text)
}

func (p *Place) walk(w *walker) {
	w.str("path", &p.Path)
	w.str("access", &p.Access)
	w.str("source", &p.Source)
	w.flag("protected", &p.Protected)
}

func (g *Granted) walk(w *walker) {
	objects(w, "view", &g.View, func(w *walker, p *Place) { p.walk(w) })
	w.strs("trees", &g.Trees)
	w.strs("reach", &g.Reach)
	w.flag("any", &g.Any)
	w.strs("programs", &g.Programs)
	w.strs("caps", &g.Caps)
}

func (m *Start) walk(w *walker) {
	w.str("execution", &m.Execution)
	w.str("token_sha256", &m.TokenSHA256)
	w.str("workspace", &m.Workspace)
	w.str("run_dir", &m.RunDir)
	w.str("output", &m.Output)
	w.str("sbx", &m.SBX)
	w.object("broker", m.Broker.walk)
	if w.to == nil && w.from.Get("plan") != nil {
		m.Plan = &Document{}
	}
	if m.Plan != nil {
		w.object("plan", m.Plan.walk)
	}
	w.object("granted", m.Granted.walk)
}

func (m *Sockets) walk(w *walker) { w.strs("kinds", &m.Kinds) }
func (*End) walk(*walker)         {}
func (m *Failed) walk(w *walker)  { w.str("why", &m.Why) }

func (m *Ready) walk(w *walker) {
	w.str("broker_sha256", &m.BrokerSHA256)
	w.str("plan_sha256", &m.PlanSHA256)
	w.flag("required", &m.Required)
	w.strs("tools", &m.Tools)
}

func (m *Refused) walk(w *walker) {
	w.str("field", &m.Field)
	w.str("on", &m.On)
	w.str("do", &m.Do)
	w.str("why", &m.Why)
	w.str("help", &m.Help)
}

func (m *Call) walk(w *walker) {
	w.str("id", &m.ID)
	w.str("at", &m.At)
	w.str("tool", &m.Tool)
	w.str("step", &m.Step)
	w.str("verdict", &m.Verdict)
	w.str("rule", &m.Rule)
	w.str("reason", &m.Reason)
	w.str("allow_with", &m.AllowWith)
}

func (m *Ask) walk(w *walker) {
	w.str("id", &m.ID)
	w.str("tool", &m.Tool)
	w.str("reason", &m.Reason)
}

func (m *Summary) walk(w *walker) {
	w.num("calls", &m.Calls)
	w.num("denied", &m.Denied)
	objects(w, "by_tool", &m.ByTool, func(w *walker, c *Count) {
		w.str("tool", &c.Tool)
		w.num("calls", &c.Calls)
		w.num("denied", &c.Denied)
	})
	w.num("lines", &m.Lines)
}
