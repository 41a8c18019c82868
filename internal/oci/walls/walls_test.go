package walls

import (
	"reflect"
	"testing"

	"sbx/landlock"
)

func TestReadBack(t *testing.T) {
	w := Walls{ABI: 6, Landlock: landlock.Ruleset{FS: landlock.FSRead, Scope: landlock.Signal,
		Rules: []landlock.Rule{{Path: "/", Allow: landlock.ReadDir}, {Path: "/x\xff", Allow: landlock.ReadFile, File: true}}}, Filter: []byte("12345678"), Listens: true, Apart: true}
	b := w.Append(nil)
	if got, err := Decode(b); err != nil || !reflect.DeepEqual(got, w) {
		t.Errorf("%+v, %v", got, err)
	}
	for i := range b {
		if _, err := Decode(b[:i]); err == nil {
			t.Fatalf("cut off at %d it is taken", i)
		}
	}
	if _, err := Decode(append(b, 0)); err == nil {
		t.Error("with more behind it is taken")
	}
}
