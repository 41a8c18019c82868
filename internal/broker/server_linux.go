package broker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sbx/internal/broker/document"
	"sbx/internal/doc"
	"sbx/spec"
)

// server is an MCP server in a sandbox of its own. It runs from its first call to the end
// of the execution, or until a call takes too long.
type server struct {
	mu      sync.Mutex
	session *mcp.ClientSession // nil while it does not run
	end     context.CancelFunc
}

// server returns the MCP server of a tool. Tools with the same command line and the same
// rights share one.
func (x *executor) server(t *document.Tool) *server {
	key := strings.Join(t.Server, "\x00") + "\x00" + strings.Join(t.Secrets, "\x00")
	for _, d := range x.documents(t, t.Fixed(), false) {
		key += "\x00" + string(d.AppendCanonical(nil))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.servers[key] == nil {
		x.servers[key] = &server{}
	}
	return x.servers[key]
}

func (x *executor) endServers() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.servers {
		go s.stop()
	}
}

// stop ends the server's process tree.
func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		s.end()
		_ = s.session.Close()
		s.session = nil
	}
}

// open starts the server unless it runs.
func (s *server) open(ctx context.Context, x *executor, v *Verdict) (*mcp.ClientSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		return s.session, nil
	}
	x.running.Add(1) // the call that opens it is still counted, so the WaitGroup is not at zero
	t := v.allowed.tool
	life, end := context.WithCancel(context.Background())
	cmd := x.command(life, t, v.id, t.Fixed(), t.Server, false)
	connected := make(chan error, 1)
	go func() {
		defer x.running.Done()
		_ = onOneThread(func() (err error) {
			client := mcp.NewClient(&mcp.Implementation{Name: "sbx-broker", Version: "1"}, nil)
			session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: grace}, nil)
			if err != nil {
				end()
				connected <- err
				return err
			}
			s.session = session
			connected <- nil
			_ = session.Wait()
			return nil
		})
	}()
	s.end = end
	if err := <-connected; err != nil {
		return nil, err
	}
	return s.session, nil
}

// callServer calls a tool of an MCP server, whose schema must have the pinned digest.
func (x *executor) callServer(v *Verdict) (*Result, string) {
	req := v.allowed
	ctx, cancel := x.limitedContext(req.tool.Timeout)
	defer cancel()
	s := x.server(req.tool)
	fails := func(reason string, err error) (*Result, string) {
		s.stop()
		switch {
		case x.isOver():
			return &Result{Kind: Closed, Reason: errOver.Error()}, ""
		case ctx.Err() != nil:
			reason = "the tool did not end within " + req.tool.Timeout.String()
		}
		return &Result{Kind: Broken, Reason: reason}, err.Error()
	}
	session, err := s.open(ctx, x, v)
	if err != nil {
		return fails("the MCP server of the tool cannot be started", err)
	}
	if err := pinned(ctx, session, req.tool); err != nil {
		return fails(err.Error(), err)
	}
	answer, err := session.CallTool(ctx, &mcp.CallToolParams{Name: req.tool.Remote, Arguments: json.RawMessage(req.args.AppendCanonical(nil))})
	if err != nil {
		return fails("the MCP server of the tool gave no answer", err)
	}
	out := &bounded{of: x.redactor, max: int(req.tool.MaxResult)}
	for _, c := range answer.Content {
		text, plain := c.(*mcp.TextContent)
		if !plain {
			other, _ := json.Marshal(c)
			text = &mcp.TextContent{Text: string(other)}
		}
		_, _ = out.Write([]byte(text.Text + "\n"))
	}
	out.finish()
	r := &Result{Stdout: string(out.out), Truncated: out.cut, Status: spec.Some[int64](0)}
	if answer.IsError {
		r.Status.Value = 1
	}
	return r, ""
}

// pinned compares the schema that the server reports for its tool with the digest in the
// Broker document.
func pinned(ctx context.Context, session *mcp.ClientSession, t *document.Tool) error {
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return errors.New("the MCP server lists no tools")
		}
		if tool.Name != t.Remote {
			continue
		}
		text, err := json.Marshal(tool.InputSchema)
		if err != nil {
			return err
		}
		schema, err := doc.ParseLaxJSON("schema", text, 64)
		if err != nil {
			return err
		}
		if has := document.Digest(schema); has != t.Pin {
			return errors.New("the MCP server's schema of " + t.Remote + " has the digest " + has + ", and schema_sha256 is another")
		}
		return nil
	}
	return errors.New("the MCP server has no tool " + t.Remote)
}
