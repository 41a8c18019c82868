package oci

import (
	"os"
	"strconv"
	"strings"
	"time"

	"sbx/internal/doc"
	"sbx/spec"
)

// Tell reports the reason why a verb failed, on stderr and in the runtime's log that the engine
// reads.
func (c *Call) Tell(err error) {
	lines := spec.Told(spec.AsProblems(err)[0])
	for _, l := range lines {
		_, _ = os.Stderr.WriteString("sbx-oci: " + spec.Shown(l) + "\n")
	}
	c.log("sbx-oci: " + strings.Join(lines, "; "))
}

func (c *Call) log(msg string) {
	path := c.global("log")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	now := time.Now().Format(time.RFC3339)
	text := `time="` + now + `" level=error msg=` + strconv.Quote(msg) + "\n"
	if c.global("log-format") == "json" {
		text = string(object("level", doc.Str("error"), "msg", doc.Str(msg), "time", doc.Str(now)).AppendCanonical(nil)) + "\n"
	}
	_, _ = f.WriteString(text)
}
