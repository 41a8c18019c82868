package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// These measure how long a GiB of an agent's events takes through sbx's reader, and through cat
// instead. The agent is a script with an agent's name that prints a recorded stream; cat consumes
// the stream in both cases.
var (
	catted = contestant{"cat", func(_ *bencher, _ place, argv []string) []string {
		return []string{"/bin/sh", "-c", `"$@" | cat | cat >/dev/null`, "sh", argv[0]}
	}}
	streamed = contestant{"sbx", func(b *bencher, p place, argv []string) []string {
		return append([]string{"/bin/sh", "-c", `"$@" | cat >/dev/null`, "sh", b.sbx, "exec", "-q", "--spec", p.spec, "--"}, argv...)
	}}
)

// The script prints a file of eventsSize bytes eventsTimes.
const (
	eventsSize  = 64 << 20
	eventsTimes = 16
)

func (b *bencher) streaming() []job {
	return []job{{name: "stream", what: "1 GiB of an agent's events through the reader", place: b.own,
		argv: []string{"./claude", "-p", "x", "--output-format", "stream-json", "--verbose"}, many: 1,
		rounds: 15, quick: 4, of: []contestant{catted, streamed}, base: "cat", on: "sbx", gate: 1.50, aim: 1.20, before: b.events}}
}

// events writes ordinary events: parts of messages, messages, and results of tools.
func (b *bencher) events() error {
	prose := func(n int) string {
		return strings.Repeat("The quick brown fox jumps over the lazy dog, and says so.\\n", n/58+1)
	}
	var some, all bytes.Buffer
	for i := range 400 {
		fmt.Fprintf(&some, `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}},"session_id":"s","parent_tool_use_id":null}`+"\n", prose(200+i*37%1800))
		fmt.Fprintf(&some, `{"type":"assistant","message":{"id":"msg_%d","type":"message","role":"assistant","content":[{"type":"text","text":"%s"}],"usage":{"input_tokens":100,"output_tokens":10}},"parent_tool_use_id":null,"session_id":"s"}`+"\n", i, prose(200+i*53%1800))
		if i%4 == 0 {
			out := prose(3000 * (1 + i%10))
			fmt.Fprintf(&some, `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s","is_error":false}]},"parent_tool_use_id":null,"session_id":"s","tool_use_result":{"stdout":"%s","stderr":""}}`+"\n", i, out, out)
		}
	}
	for all.Len() < eventsSize {
		all.Write(some.Bytes())
	}
	if err := os.WriteFile(filepath.Join(b.own.workspace, "events"), all.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.own.workspace, "claude"), []byte("#!/bin/sh\nexec cat"+strings.Repeat(" events", eventsTimes)+"\n"), 0o755)
}
