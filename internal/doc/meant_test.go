package doc

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"access_mode", "max_turns", "read", "write", "hide", "set", "pass"}
	for in, want := range map[string]string{
		"acces_mode": "access_mode", "ACCESS-MODE": "access_mode", "accessMode": "access_mode", "max turns": "max_turns",
		"maxturn": "max_turns", "raed": "read", "reads": "read", "wirte": "write", "x": "", "": "", "filesystem": "", "st": "set", "é": "",
	} {
		if got := Nearest(in, known); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
