package audit

import "sbx/internal/doc"

// maxConnections is how many kinds of connections a record lists.
const maxConnections = 200

// Connection sums up the connections through the relay of one program to one host and port, or
// of anyone to a published port.
type Connection struct {
	Host    string // as requested: a name or an address
	Port    int
	Inside  int // the port inside that a published port leads to; 0 for connections of the command
	Program string
	Made    int // connections requested
	Failed  int // how many of Made failed outside
	NoSNI   int // how many began TLS without naming a host
	Out, In int64
	Why     string // why the first of them failed
}

// Connections collects connections in bounded space.
type Connections struct {
	list    []Connection
	index   map[alikeConnection]int
	omitted int
}

type alikeConnection struct {
	host    string
	port    int
	inside  int
	program string
}

// Add adds connections.
func (cs *Connections) Add(c Connection) {
	k := alikeConnection{Clip(c.Host), c.Port, c.Inside, Clip(c.Program)}
	i, ok := cs.index[k]
	if !ok {
		if len(cs.list) == maxConnections {
			cs.omitted += c.Made
			return
		}
		if cs.index == nil {
			cs.index = map[alikeConnection]int{}
		}
		i = len(cs.list)
		cs.index[k] = i
		cs.list = append(cs.list, Connection{Host: k.host, Port: k.port, Inside: k.inside, Program: k.program})
	}
	have := &cs.list[i]
	have.Made += c.Made
	have.Failed += c.Failed
	have.NoSNI += c.NoSNI
	have.Out += c.Out
	have.In += c.In
	if have.Why == "" {
		have.Why = Clip(c.Why)
	}
}

// append writes the key "network".
func (cs *Connections) append(w *writer) {
	w.KeyOpen("network", '{')
	doc.Objects(&w.Writer, "connections", cs.list, func(c *Connection) {
		w.KeyStr("host", c.Host)
		w.KeyInt("port", int64(c.Port))
		if c.Inside != 0 {
			w.KeyStr("direction", "in")
			w.KeyInt("inside", int64(c.Inside))
		}
		w.KeyText("program", c.Program)
		w.KeyInt("connections", int64(c.Made))
		w.KeyInt("bytes_out", c.Out)
		w.KeyInt("bytes_in", c.In)
		if c.Failed > 0 {
			w.KeyInt("failed", int64(c.Failed))
			w.KeyText("reason", c.Why)
		}
		w.KeyCount("without_sni", int64(c.NoSNI))
	})
	w.KeyCount("connections_omitted", int64(cs.omitted))
	w.Close('}')
}
