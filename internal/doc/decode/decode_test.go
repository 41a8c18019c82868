package decode

import (
	"math/big"
	"strings"
	"testing"
)

// A number is whole by its value, not by how it is written.
func TestWholeNumber(t *testing.T) {
	for _, in := range []string{
		"0", "-0", "1", "-1", "12", "1.0", "1.5", "1e3", "1E+3", "1.5e1", "1.25e1", "100e-2", "101e-2", "1e-1", "0e-5", "0.0",
		"9007199254740993", "123456789012345678", "1e17", "1.0000000000000000001", "-25e1", "10e-1",
	} {
		want, _ := new(big.Rat).SetString(in)
		got, ok := WholeNumber(in)
		if ok != want.IsInt() || ok && want.Num().Cmp(big.NewInt(got)) != 0 {
			t.Errorf("%s: %d, %v, want %s", in, got, ok, want)
		}
	}
	for _, in := range []string{"1e18", "1234567890123456789", "1e999999999", "1e99999999999999999999", "1" + strings.Repeat("0", 1000)} {
		if got, ok := WholeNumber(in); !ok || got != 1<<63-1 {
			t.Errorf("%.30s: %d, %v, want the largest", in, got, ok)
		}
	}
	for _, in := range []string{".inf", "-.inf", ".nan", "1e-99999999999999999999"} {
		if got, ok := WholeNumber(in); ok {
			t.Errorf("%s: %d", in, got)
		}
	}
}
