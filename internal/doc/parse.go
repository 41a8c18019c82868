package doc

import (
	"bytes"
	"strings"
)

// Parse reads a document by its name: .yaml and .yml are YAML, .json is JSON; any other is
// JSON where it begins with "{".
func Parse(name string, b []byte) (*Node, error) {
	isYAML := strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
	if strings.HasSuffix(name, ".json") || !isYAML && bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) {
		return ParseJSON(name, b)
	}
	return ParseYAML(name, b)
}
