package doc

import (
	"bytes"
	"strings"
)

// Parse reads a document as JSON or YAML by the extension of its name. Without .json, .yaml or
// .yml it is JSON if it begins with "{".
func Parse(name string, b []byte) (*Node, error) {
	isYAML := strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
	if strings.HasSuffix(name, ".json") || !isYAML && bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) {
		return ParseJSON(name, b)
	}
	return ParseYAML(name, b)
}
