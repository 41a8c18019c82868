package agent

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"sbx/spec"
)

// flows are ordinary streams of about 8 MiB, each with one kind of event.
var flows = []struct {
	name  string
	agent spec.Agent
	line  func(i int) string
}{
	{"claude/parts", spec.Claude, func(i int) string {
		return `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + prose(200+i*37%1800) + `"}},"session_id":"4385b2ad-dd2a-4c67-bb29-d1cb2f829c6e","parent_tool_use_id":null,"uuid":"1e68965d-0070-42dc-a494-aaf8fd9cee06"}`
	}},
	{"claude/text", spec.Claude, func(i int) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"%s"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"output_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"context_management":null},"parent_tool_use_id":null,"session_id":"cafc30ee-c768-4fc4-aba3-d7d795fca231","uuid":"881e003b-e68d-4b13-b21d-167f5fd0682f","timestamp":"2026-11-21T11:54:09.123Z","request_id":"req_1"}`, i, prose(200+i*37%1800))
	}},
	{"claude/results", spec.Claude, func(i int) string {
		out := source(50_000)
		return `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_0","type":"tool_result","content":"` + out + `","is_error":false}]},"parent_tool_use_id":null,"session_id":"cafc30ee","tool_use_result":{"stdout":"` + out + `","stderr":"","interrupted":false},"tool_result_meta":[{"id":"toolu_0","permission_decision":{"decision":"accept","source":"config","reason_type":"mode"}}]}`
	}},
	{"codex/text", spec.Codex, func(i int) string {
		return `{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"` + prose(200+i*37%1800) + `"}}`
	}},
	{"codex/results", spec.Codex, func(i int) string {
		return fmt.Sprintf(`{"type":"item.completed","item":{"id":"item_%d","type":"command_execution","command":"/bin/bash -lc 'cat main.go'","aggregated_output":"%s","exit_code":0,"status":"completed"}}`, i, source(50_000))
	}},
	{"gemini/text", spec.Gemini, func(i int) string {
		return `{"type":"message","timestamp":"2026-11-21T11:54:40.046Z","role":"assistant","content":"` + prose(200+i*37%1800) + `","delta":true}`
	}},
	{"gemini/results", spec.Gemini, func(i int) string {
		return `{"type":"tool_result","timestamp":"2026-11-21T11:54:40.273Z","tool_id":"run_shell_command__fc_0","status":"success","output":"` + source(50_000) + `"}`
	}},
}

// prose and source return n bytes of text as JSON has it.
func prose(n int) string {
	return strings.Repeat("The quick brown fox jumps over the lazy dog, and says so.\\n", n/58+1)[:n/58*58+58]
}

func source(n int) string {
	const line = `\tif err := fmt.Errorf(\"read %q: %w\", name, err); err != nil {\n\t\treturn nil, err\n\t}\n`
	return strings.Repeat(line, n/len(line)+1)
}

func flow(f func(int) string, size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		b.WriteString(f(i))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// BenchmarkRead measures the reader alone, fed as by a pipe.
func BenchmarkRead(b *testing.B) {
	for _, f := range flows {
		b.Run(f.name, func(b *testing.B) {
			data := flow(f.line, 8<<20)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				s, _ := New(f.agent, Hooks{})
				for p := data; len(p) > 0; {
					n := min(len(p), 64<<10)
					s.Write(p[:n])
					p = p[n:]
				}
				s.Close()
			}
		})
	}
}

// BenchmarkPipe measures passing a stream on without the reader and with it: two pipes, with a
// writer and a sink at their ends.
func BenchmarkPipe(b *testing.B) {
	for _, read := range []bool{false, true} {
		for _, f := range flows {
			name := "cat/" + f.name
			if read {
				name = "read/" + f.name
			}
			b.Run(name, func(b *testing.B) {
				data := flow(f.line, 8<<20)
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					var s *Stream
					if read {
						s, _ = New(f.agent, Hooks{})
					}
					through(b, data, s)
				}
			})
		}
	}
}

func through(b *testing.B, data []byte, s *Stream) {
	in, feed, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	sink, out, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		feed.Write(data)
		feed.Close()
	}()
	done := make(chan struct{})
	go func() {
		io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{sink}, make([]byte, 128<<10))
		sink.Close()
		close(done)
	}()
	buf := make([]byte, 128<<10)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			out.Write(buf[:n])
			if s != nil {
				s.Write(buf[:n])
			}
		}
		if err != nil {
			break
		}
	}
	out.Close()
	in.Close()
	<-done
}
