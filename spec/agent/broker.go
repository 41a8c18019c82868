package agent

import (
	"slices"
	"strings"

	"sbx/internal/broker/wire"
	"sbx/internal/doc"
	"sbx/spec"
)

// Broker is how an agent reaches the tools that a broker runs for it: an MCP server at a
// URL, or one that is a program. It is zero for none.
type Broker struct {
	URL     string
	Command []string
}

// BrokerTools are the tools of a broker, as claude names them.
const (
	BrokerTools = "mcp__" + brokerServer + "__*"

	brokerServer = "sbx"
)

func (b *Broker) is() bool { return b.URL != "" || len(b.Command) > 0 }

// withBroker is what is asked with a broker's tools among the allowed, where not all are.
func (a Ask) withBroker() Ask {
	if a.Broker.is() && a.Allowed.Set {
		a.Allowed.Value = append(slices.Clone(a.Allowed.Value), BrokerTools)
	}
	return a
}

// isForeign tells of a tool of an MCP server other than the broker's.
func isForeign(tool string) bool { return isMCP(tool) && tool != BrokerTools }

// config is the server as a member of an object mcpServers, as claude and gemini have
// it: which key its URL has, and how the value of a variable stands in a text.
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

func (w *answer) claudeBroker() {
	if b := &w.ask.Broker; b.is() {
		kind := "stdio"
		if b.URL != "" {
			kind = "http"
		}
		w.flag("--mcp-config", b.config("url", func(w *doc.Writer) { w.KeyStr("type", kind) }, "${"+wire.TokenVariable+"}"))
		if !w.ask.Allowed.Set {
			w.flag("--allowedTools", BrokerTools)
		}
	}
}

func (w *answer) codexBroker() {
	const server = "mcp_servers." + brokerServer + "."
	switch b := &w.ask.Broker; {
	case b.URL != "":
		w.flag("-c", server+"url="+tomlText(b.URL), "-c", server+"bearer_token_env_var="+tomlText(wire.TokenVariable))
	case b.is():
		w.flag("-c", server+"command="+tomlText(b.Command[0]), "-c", server+"args="+tomlList(b.Command[1:]))
	}
}

// Settings are what an agent's own settings are with its broker in them, and where they
// stand; "" for an agent that is told by flags, or has no broker. why tells what keeps it
// from having its broker's tools.
func Settings(a spec.Agent, ask Ask, p Place) (text, at, why string) {
	if a != spec.Gemini || !ask.Broker.is() {
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
