package agent

import (
	"strings"

	"sbx/internal/broker/wire"
	"sbx/internal/doc"
	"sbx/spec"
)

// config returns JSON in which mcpServers has the broker, as claude and gemini read it. url is
// the key of its URL, more writes further members, and variable is a text that the agent replaces by
// the token.
func (b *Broker) config(url string, more func(*doc.Writer), variable string) string {
	w := &doc.Writer{}
	w.Open('{')
	w.KeyOpen("mcpServers", '{')
	w.KeyOpen(brokerServer, '{')
	if b.URL != "" {
		w.KeyStr(url, b.URL)
		w.KeyOpen("headers", '{')
		w.KeyStr("Authorization", "Bearer "+variable)
		w.Close('}')
	} else {
		w.KeyStr("command", b.Command[0])
		w.KeyList("args", b.Command[1:])
	}
	more(w)
	w.Close('}')
	w.Close('}')
	w.Close('}')
	return string(w.B)
}

// Settings returns an agent's own settings with its broker added, and their path; "" for an
// agent that gets its broker by flags, or has none. why says what prevents this.
func Settings(a spec.Agent, ask Ask, p Place) (text, at, why string) {
	if a != spec.Gemini || !ask.Broker.set() {
		return "", "", ""
	}
	at = gemini.placeOf(need{path: geminiSettings}, p.Home, strings.TrimRight(p.Get(gemini.home), "/"))
	b, found, err := p.Read(at)
	root := (*spec.Node)(nil)
	if found && err == nil {
		root, err = doc.ParseJSON(at, b)
	}
	switch {
	case err != nil:
		return "", "", err.Error()
	case root == nil:
		return "", "", "there is no " + at + ", in which it would find them: make one, {} will do"
	}
	broker, _ := doc.ParseJSON("", []byte(ask.Broker.config("httpUrl", func(w *doc.Writer) { w.KeyBool("trust", true) }, "$"+wire.TokenVariable)))
	const servers = "mcpServers"
	own := broker.Get(servers)
	root = root.With(servers, root.Get(servers).With(own.Members[0].Key, own.Members[0].Value))
	return string(root.AppendJSON(nil, nil)), at, ""
}
