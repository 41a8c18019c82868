package defaults

import "strings"

// same reports whether some file system may treat name as want, which is ASCII. It ignores case. It
// also drops characters that file systems drop: dots and spaces at the end (FAT, and Windows file
// systems by CIFS and WSL) and invisible characters (HFS+, ext4 with casefold). Ligatures and
// similar characters count as the letters that they stand for.
func same(name, want string) bool {
	return strings.EqualFold(name, want) || isOdd(name) && strings.EqualFold(simplified(name), want)
}

// differEarly reports quickly, by the first two letters, that most names differ. The tables have
// hundreds of rows, and each name of a sweep is compared with all of them.
func differEarly(name, want string) bool {
	for i := 0; i < 2 && i < len(name) && i < len(want); i++ {
		a, b := name[i], want[i]
		if a >= 0x80 || a == '/' || b == '/' || b == '*' {
			return false
		}
		if a|0x20 != b|0x20 { // compares them as letters, whatever their case
			return true
		}
	}
	return false
}

// isOdd reports whether simplified would change name.
func isOdd(name string) bool {
	if name == "" {
		return false
	}
	if last := name[len(name)-1]; last == '.' || last == ' ' {
		return true
	}
	for i := 0; i < len(name); i++ {
		if name[i] >= 0x80 {
			return true
		}
	}
	return false
}

// simplified returns name without the characters that a lenient file system drops, and with
// ligatures spelled out.
func simplified(name string) string {
	var b strings.Builder
	for _, r := range strings.TrimRight(name, ". ") {
		switch {
		case isIgnored(r):
		case r == 'ß' || r == 'ẞ':
			b.WriteString("ss")
		case r >= 'ﬀ' && r <= 'ﬆ':
			b.WriteString(ligatures[r-'ﬀ'])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// ligatures are the ligatures of the block of presentation forms that begins at U+FB00.
var ligatures = [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}

// isIgnored reports whether r is one of Unicode's Default_Ignorable_Code_Point.
func isIgnored(r rune) bool {
	for _, x := range ignored {
		if r >= x[0] && r <= x[1] {
			return true
		}
	}
	return false
}

var ignored = [...][2]rune{
	{0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
	{0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff},
	{0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
}
