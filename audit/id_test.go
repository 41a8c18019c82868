package audit

import (
	"slices"
	"testing"
	"time"
)

func TestIDsSortByTime(t *testing.T) {
	at := time.Date(2026, 11, 21, 14, 1, 2, 3e6, time.FixedZone("", 3600))
	var ids []string
	seen := map[string]bool{}
	for range 1000 {
		id, err := NewID(at)
		if err != nil {
			t.Fatal(err)
		}
		if !isID(id) || seen[id] {
			t.Fatalf("%q: no id, or given twice", id)
		}
		seen[id] = true
		ids = append(ids, id)
		at = at.Add(time.Millisecond)
	}
	if !slices.IsSorted(ids) {
		t.Error("later ids do not sort after earlier ones")
	}
	if want := "20261121T130102.003-"; ids[0][:len(want)] != want {
		t.Errorf("%q does not begin with its time in UTC", ids[0])
	}
}

func TestIsID(t *testing.T) {
	for _, s := range []string{"", "last", ".", "..", "20261121T130102.003-1234567", "20261121T130102.003-1234567g",
		"20261121T130102.003_12345678", "2026112aT130102.003-12345678", "20261121 130102.003-12345678", "20261121T130102.003-12345678/"} {
		if isID(s) {
			t.Errorf("%q is no id", s)
		}
	}
}
