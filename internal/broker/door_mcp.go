package broker

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sbx/internal/broker/document"
)

// invalidParams is JSON-RPC's code for invalid arguments and unknown names.
const invalidParams = -32602

// overMCP serves MCP. It keeps no session: each request has its token.
func (d *doors) overMCP() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "sbx", Version: "1"}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, PageSize: 1000, SupportedProtocolVersions: versions()})
	for _, t := range d.doc.Tools {
		s.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: json.RawMessage(t.Args.AppendJSON(nil, nil))}, d.callMCP)
	}
	s.AddReceivingMiddleware(d.receive)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true})
}

// versions returns the protocol versions that "sbx-broker connect" can carry: from 2026
// on, a request over HTTP has headers that a request over stdio lacks.
func versions() []string {
	return slices.DeleteFunc(mcp.SupportedProtocolVersions(), func(v string) bool { return v >= "2026" })
}

// receive removes from tools/list the tools that cannot be allowed, and has Dispatch
// decide a call of an unknown tool: the library would reply to it before any handler.
func (d *doors) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, ok := req.(*mcp.CallToolRequest); ok && d.doc.Tool(call.Params.Name) == nil {
			return d.callMCP(ctx, call)
		}
		res, err := next(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok {
			could := map[string]bool{}
			for _, t := range d.PossibleTools() {
				could[t.Name] = true
			}
			all := list.Tools
			list.Tools = []*mcp.Tool{}
			for _, t := range all {
				if could[t.Name] {
					list.Tools = append(list.Tools, t)
				}
			}
		}
		return res, err
	}
}

// callMCP carries out one tools/call.
func (d *doors) callMCP(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := document.ReadArgs(req.Params.Arguments)
	if err != nil {
		return nil, &jsonrpc.Error{Code: invalidParams, Message: d.redactor.quoted(err.Error())}
	}
	token := ""
	if extra := req.GetExtra(); extra != nil {
		token = bearerToken(&http.Request{Header: extra.Header})
	}
	r := d.Dispatch(token, &document.Call{Tool: req.Params.Name, Args: args})
	if r.Kind == NoTool || r.Kind == BadArgs {
		return nil, &jsonrpc.Error{Code: invalidParams, Message: r.Reason}
	}
	if r.Kind == Allowed && len(r.Artifacts)+len(r.Unexpected) == 0 && r.Stderr == "" && !r.Truncated {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: r.Stdout}}, IsError: r.Status.Value != 0}, nil
	}
	text, err := json.Marshal(r.object())
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, IsError: r.Kind != Allowed || r.Status.Value != 0}, err
}
