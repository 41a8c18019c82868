package doc

import "strings"

// AppendYAML appends the object n as YAML, with a line for each member and for each item of a
// list that is a member. note returns the comment for a line, by field and value as in Change;
// "" for none.
func (n *Node) AppendYAML(dst []byte, note func(field, value string) string) []byte {
	return n.appendYAML(dst, "", "", note)
}

func (n *Node) appendYAML(dst []byte, field, indent string, note func(field, value string) string) []byte {
	line := func(field string, value *Node) {
		dst = append(dst, value.yamlFlow()...)
		if text := note(field, string(value.AppendSpaced(nil))); text != "" {
			dst = append(append(dst, "  # "...), text...)
		}
		dst = append(dst, '\n')
	}
	for i := range n.Members {
		m := &n.Members[i]
		within := Join(field, m.Key)
		dst = append(append(append(dst, indent...), yamlWord(m.Key)...), ':')
		switch {
		case len(m.Value.Members) > 0:
			dst = m.Value.appendYAML(append(dst, '\n'), within, indent+"  ", note)
		case len(m.Value.Items) > 0:
			dst = append(dst, '\n')
			for _, item := range m.Value.Items {
				dst = append(append(dst, indent...), "  - "...)
				line(within, item)
			}
		default:
			dst = append(dst, ' ')
			line(within, m.Value)
		}
	}
	return dst
}

// yamlFlow returns a value on one line.
func (n *Node) yamlFlow() string {
	if n.Kind == String {
		return yamlWord(n.Text)
	}
	return string(n.AppendSpaced(nil))
}

// yamlWord returns a string, in quotes unless every reader takes it for a string without them.
func yamlWord(s string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	plain := s != "" && strings.Contains(letters+"/", s[:1]) && strings.Trim(s, letters+"0123456789/._-") == ""
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		plain = false
	}
	if plain {
		return s
	}
	return string(AppendShown(nil, s))
}
