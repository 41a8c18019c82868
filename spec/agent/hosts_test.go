package agent

import (
	"errors"
	"strings"
	"testing"

	"sbx/spec"
)

// What an agent reaches of itself is its maker's hosts or, where its environment or its
// configuration names others, those.
func TestHosts(t *testing.T) {
	const config = `model_provider = "mine"
[model_providers.mine]
base_url = "http://127.0.0.1:8123/v1"
[model_providers.other]
base_url = "https://other.example/v1"
`
	for _, c := range []struct {
		agent  spec.Agent
		env    string
		config string
		args   []string
		want   string
	}{
		{spec.Claude, "", "", nil, "@anthropic"},
		{spec.Codex, "", "", nil, "@openai"},
		{spec.Gemini, "", "", nil, "@google-ai"},
		{spec.NoAgent, "", "", nil, ""},
		{spec.Claude, "ANTHROPIC_BASE_URL=http://localhost:8123", "", nil, "localhost:8123"},
		{spec.Claude, "ANTHROPIC_BASE_URL=http://127.0.0.1:8123/v1", "", nil, "127.0.0.1:8123"},
		{spec.Claude, "ANTHROPIC_BASE_URL=https://u:p@gate.example/x@y?z", "", nil, "gate.example:443"},
		{spec.Claude, "ANTHROPIC_BASE_URL=http://[::1]", "", nil, "[::1]:80"},
		{spec.Claude, "ANTHROPIC_BASE_URL=gate.example", "", nil, "@anthropic"},
		{spec.Claude, "ANTHROPIC_BASE_URL=https://*.example.com", "", nil, "@anthropic"},
		{spec.Claude, "ANTHROPIC_BASE_URL=https://gate.example:*", "", nil, "@anthropic"},
		{spec.Claude, "CLAUDE_CODE_USE_BEDROCK=1 AWS_REGION=eu-west-1 AWS_DEFAULT_REGION=us-west-2", "", nil,
			"bedrock-runtime.eu-west-1.amazonaws.com:443 bedrock.eu-west-1.amazonaws.com:443 sts.eu-west-1.amazonaws.com:443"},
		{spec.Claude, "CLAUDE_CODE_USE_BEDROCK=0", "", nil, "@anthropic"},
		{spec.Gemini, "GOOGLE_GENAI_USE_VERTEXAI=true GOOGLE_CLOUD_LOCATION=x/y", "", nil, "aiplatform.googleapis.com:443 oauth2.googleapis.com:443"},
		{spec.Gemini, "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:1", "", nil, "127.0.0.1:1"},
		{spec.Codex, "OPENAI_BASE_URL=http://127.0.0.1:1/v1", "", nil, "127.0.0.1:1"},
		{spec.Codex, "", config, nil, "127.0.0.1:8123"},
		{spec.Codex, "", config, []string{"exec", "-c", "model_provider=other"}, "other.example:443"},
		{spec.Codex, "", config, []string{"exec", "-c", "model_provider=openai"}, "@openai"},
		{spec.Codex, "", "", []string{"exec", "-c", "model_provider=fake", "-c", `model_providers.fake={name="fake", base_url="http://127.0.0.1:9/v1", wire_api="responses"}`}, "127.0.0.1:9"},
		{spec.Codex, "", "", []string{"exec", "-c", `openai_base_url="http://127.0.0.1:9/v1"`}, "127.0.0.1:9"},
	} {
		env := map[string]string{}
		for v := range strings.FieldsSeq(c.env) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		at := Place{Home: "/home/u", Start: "/p", Typed: ReadArgs(c.agent, c.args), Get: func(name string) string { return env[name] },
			Read: func(path string) ([]byte, bool, error) {
				if path != "/home/u/.codex/config.toml" || c.config == "" {
					return nil, false, errors.New("nothing is there")
				}
				return []byte(c.config), true, nil
			}}
		if got := strings.Join(Hosts(c.agent, at), " "); got != c.want {
			t.Errorf("%v %s %s: %s, want %s", c.agent, c.env, c.args, got, c.want)
		}
	}
}
