package e2e

import (
	"slices"
	"strings"
	"testing"
)

// A variable with a password in a URL does not reach the command, whatever its name is. git's
// settings are dropped together, so that git itself still works.
func TestCredentialsInVariables(t *testing.T) {
	needSandbox(t)
	git := needPrograms(t, "git")
	b := newBox(t)
	kept := []string{"HTTPS_PROXY=http://u:s3cret@proxy:3128", "PIP_EXTRA_INDEX_URL=https://pypi.org/simple https://u:s3cret@two/simple", "SOME_NAME=amqp://u:s3cret@h", "SOME_BASE=jdbc:postgresql://h/db?user=u&password=s3cret", "SOME_HOST=//u:s3cret@h", "SOME_SOURCE=u:s3cret@tcp(h:3306)/db",
		"SSHPASS=s3cret", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraheader", "GIT_CONFIG_VALUE_0=Authorization: s3cret"}
	b.env = append(b.env, kept...)
	b.env = append(b.env, "HTTP_PROXY=http://proxy:3128", "PIP_INDEX_URL=https://pypi.org/simple", "REPOSITORY=ssh://git@host/x", "OTHER_BASE=jdbc:postgresql://h/db?user=u", "OTHER_SOURCE=u@tcp(h:3306)/db")
	script := "env; " + git + " --version >/dev/null && " + git + " config --get http.extraheader; " + git + " config --list >/dev/null && echo goes; echo end"
	if r := b.plain("/bin/sh", "-c", script).ended(); strings.Count(r.out, "s3cret") != 9 || !strings.Contains(r.out, "goes") {
		t.Errorf("control: %v", r)
	}
	r := b.run(specRO, "/bin/sh", "-c", script, "u:s3cret@unix(/s)/db").ended()
	if argv, _ := r.rec.at("command", "argv").([]any); len(argv) != 4 || argv[3] != "u:<redacted>@unix(/s)/db" {
		t.Errorf("the record has %v", argv)
	}
	for _, word := range []string{"HTTP_PROXY=http://proxy:3128", "PIP_INDEX_URL=", "REPOSITORY=", "OTHER_BASE=", "OTHER_SOURCE=", "goes"} {
		if !strings.Contains(r.out, word) {
			t.Errorf("no %s: %v", word, r)
		}
	}
	if strings.Contains(r.out, "s3cret") || strings.Contains(r.out, "GIT_CONFIG") {
		t.Errorf("%v", r)
	}
	dropped, _ := r.rec.at("resolved", "environment", "dropped").([]any)
	for _, v := range kept {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(dropped, any(name)) {
			t.Errorf("%s is not among %v", name, dropped)
		}
	}
	if r = b.run(specWith(specRO, `"environment":{"pass":["HTTPS_PROXY"]}`), "/bin/sh", "-c", `echo "$HTTPS_PROXY"; echo end`).ended(); !strings.Contains(r.out, "s3cret") {
		t.Errorf("named: %v", r)
	}
}
