package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// mcp is an MCP server over stdio with one tool: it counts its calls, says a text, and
// what it has of the environment; "hang" as the text has it answer no more.
func mcp([]string) {
	calls := 0
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion string
				Name            string
				Arguments       struct{ Text string }
			}
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		var result any
		switch m.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "probe", "version": "1"}}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]any{"name": "tell", "inputSchema": map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}}}}}
		case "tools/call":
			if m.Params.Arguments.Text == "hang" {
				time.Sleep(time.Hour)
			}
			calls++
			text := fmt.Sprintf("%d: %s %s", calls, m.Params.Arguments.Text, os.Getenv("KEY"))
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
		default:
			answer, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "no " + m.Method}})
			fmt.Println(string(answer))
			continue
		}
		answer, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
		fmt.Println(string(answer))
	}
}
