package spec

import "strings"

// Known reports whether best_effort may contain f: "*", a field, or a field that has fields.
func Known(f Field) bool {
	if f == "*" {
		return true
	}
	for i := range fields {
		if fields[i].Field == f || strings.HasPrefix(string(fields[i].Field), string(f)+".") {
			return true
		}
	}
	return false
}

// Real resolves every link of an absolute path, which must exist.
func Real(path string, paths Paths) (string, error) {
	p, err := resolvePath(paths, path)
	if err != nil {
		return "", err
	}
	if !p.Exists {
		return "", NoEntry
	}
	return p.Real, nil
}
