package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// truth is what testdata/clients/server.mjs saw: what it sent to an agent, and what the agent sent
// back.
type truth struct {
	Answers []answer       `json:"answers"`
	Calls   []toolCall     `json:"calls"`
	Offered []string       `json:"offered"`
	Other   map[string]int `json:"other"`
	Faults  []string       `json:"faults"`
	Ended   string         `json:"ended"`
}

// answer is an answer of the model.
type answer struct {
	N         int    `json:"n"`
	Provider  string `json:"provider"`
	Thread    string `json:"thread"` // "" for the agent's own
	Turn      int    `json:"turn"`
	Aside     bool   `json:"aside"` // to a question that is not part of the task
	Status    int    `json:"status"`
	Delivered bool   `json:"delivered"`
	Tokens    struct {
		Input  int `json:"input"`
		Cached int `json:"cached"`
		Output int `json:"output"`
	} `json:"tokens"`
}

// toolCall is a call that the model requested. Result is nil if the agent sent none.
type toolCall struct {
	ID     string `json:"id"`
	Name   string `json:"name"` // in the scenario
	Do     string `json:"do"`
	Tool   string `json:"tool"` // in the protocol
	Thread string `json:"thread"`
	Turn   int    `json:"turn"`
	Result *struct {
		Text  string `json:"text"`
		Error bool   `json:"error"`
	} `json:"result"`
}

// turns returns how often the model answered in the agent's own thread.
func (x *truth) turns() int {
	n := 0
	for _, a := range x.Answers {
		if !a.Aside && a.Thread == "" && a.Status == 200 {
			n++
		}
	}
	return n
}

// call returns the call with that name in the scenario, nil if it was not requested.
func (x *truth) call(name string) *toolCall {
	for i := range x.Calls {
		if x.Calls[i].Name == name {
			return &x.Calls[i]
		}
	}
	return nil
}

// said returns the result of a call; "" if there is none.
func (x *truth) said(name string) string {
	if c := x.call(name); c != nil && c.Result != nil {
		return c.Result.Text
	}
	return ""
}

// modelServer is a running model server.
type modelServer struct {
	t     *testing.T
	url   string
	cmd   *exec.Cmd
	stdin io.Closer
	file  string
	err   bytes.Buffer
}

// serve starts a model server that follows a scenario, until the test ends.
func (b *box) serve(scenario string) *modelServer {
	b.t.Helper()
	dir, err := os.MkdirTemp("", "sbx-e2e-server.")
	must(b.t, err)
	b.t.Cleanup(func() { os.RemoveAll(dir) })
	s := &modelServer{t: b.t, file: filepath.Join(dir, "truth.json")}
	clients := filepath.Join(moduleDir, "testdata", "clients")
	s.cmd = exec.Command("node", filepath.Join(clients, "server.mjs"), "--until-eof", "--lifetime", "180",
		"--scenario", filepath.Join(clients, "scenarios", scenario+".json"), "--truth", s.file,
		"--var", "PROJECT="+b.ws, "--var", "OUTSIDE="+b.out)
	s.cmd.Stderr = &s.err
	s.stdin, err = s.cmd.StdinPipe()
	must(b.t, err)
	out, err := s.cmd.StdoutPipe()
	must(b.t, err)
	must(b.t, s.cmd.Start())
	b.t.Cleanup(s.stop)
	lines := readLines(out)
	if !lines.wait(func(l string) bool { s.url = l; return strings.HasPrefix(l, "http://") }) {
		b.t.Fatalf("the model server did not start: %q %s", lines.all(), s.err.String())
	}
	return s
}

// stop ends the server, which ends by itself when its input ends.
func (s *modelServer) stop() {
	if s.cmd.ProcessState != nil {
		return
	}
	s.stdin.Close()
	late := time.AfterFunc(10*time.Second, func() { s.cmd.Process.Kill() })
	defer late.Stop()
	s.cmd.Wait()
}

// truth stops the server and reads what it saw.
func (s *modelServer) truth() truth {
	s.t.Helper()
	s.stop()
	x := s.now()
	if len(x.Faults) > 0 || x.Ended != "eof" || s.err.Len() > 0 {
		s.t.Errorf("the model server ended by %q: %q %s", x.Ended, x.Faults, s.err.String())
	}
	return x
}

// now returns what the server has seen so far.
func (s *modelServer) now() truth {
	s.t.Helper()
	text, err := os.ReadFile(s.file)
	must(s.t, err)
	var x truth
	must(s.t, json.Unmarshal(text, &x))
	return x
}

// scenarioPrompt returns the prompt for an agent in a scenario.
func scenarioPrompt(t *testing.T, scenario string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleDir, "testdata", "clients", "scenarios", scenario+".json"))
	must(t, err)
	var doc struct{ Prompt string }
	must(t, json.Unmarshal(text, &doc))
	return doc.Prompt
}
