package wrap

import "unicode/utf8"

// AppendString appends s as a JSON string (RFC 8259, section 7); bytes that are
// no UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0 // what needs no escape is copied in one piece
	for from < len(s) && s[from] >= ' ' && s[from] < 0x7f && s[from] != '"' && s[from] != '\\' {
		from++
	}
	dst = append(dst, s[:from]...)
	for _, r := range s[from:] {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ' || r == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
