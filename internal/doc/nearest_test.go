package doc

import "testing"

var meantKnown = []string{"access_mode", "max_turns", "max_commands", "read", "write", "hide", "set", "pass", "man", "question", "question"}

func TestNearest(t *testing.T) {
	for in, want := range map[string]string{
		"acces_mode": "access_mode", "ACCESS-MODE": "access_mode", "accessMode": "access_mode", "max turns": "max_turns",
		"maxturn": "max_turns", "raed": "read", "reads": "read", "wirte": "write", "Write": "write", "mna": "man",
		"x": "", "": "", "filesystem": "", "st": "set", "é": "", "acc": "",
		"questio": "question", "Question": "question", "questions": "question",
		// The typed word itself is never suggested, known or not.
		"question": "", "man": "", "read": "",
		// With two of three letters changed it is another word.
		"run": "", "bad": "", "sat": "set", "hi": "", "rid": "",
	} {
		if got := Nearest(in, meantKnown); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestNearestWord(t *testing.T) {
	for in, want := range map[string]string{
		"wirte": "write", "acc": "access_mode", "max_c": "max_commands", "ques": "question",
		"ac": "", "max_": "", "": "", "run": "", "question": "", "man": "", "questioned": "question", "writeable": "",
	} {
		if got := NearestWord(in, meantKnown); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
