package host

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// The loader is read from the program's file; an inconsistent file has none.
func TestLoaderOfAProgram(t *testing.T) {
	dir := t.TempDir()
	header := func(offset uint64, size, count uint16) []byte {
		h := make([]byte, 64)
		copy(h, "\x7fELF\x02\x01")
		binary.LittleEndian.PutUint64(h[32:], offset)
		binary.LittleEndian.PutUint16(h[54:], size)
		binary.LittleEndian.PutUint16(h[56:], count)
		return h
	}
	segment := func(kind uint32, at, n uint64) []byte {
		s := make([]byte, 56)
		binary.LittleEndian.PutUint32(s, kind)
		binary.LittleEndian.PutUint64(s[8:], at)
		binary.LittleEndian.PutUint64(s[32:], n)
		return s
	}
	join := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	name := []byte("/bin/ld.so\x00")
	for i, c := range []struct {
		file []byte
		want string
	}{
		{join(header(64, 56, 1), segment(3, 120, 11), name), "/bin/ld.so"},
		{join(header(64, 56, 2), segment(1, 0, 0), segment(3, 176, 11), name), "/bin/ld.so"},
		{join(header(64, 56, 1), segment(3, 120, 300), name), "/bin/ld.so"}, // longer than the file
		{join(header(64, 56, 1), segment(1, 120, 11), name), ""},
		{join(header(64, 56, 1), segment(3, 120, 1<<40), name), ""},
		{join(header(64, 56, 1), segment(3, 1<<63, 11), name), ""},
		{join(header(1<<63, 56, 1), segment(3, 120, 11), name), ""},
		{join(header(64, 56, 0xffff), segment(3, 120, 11), name), ""},
		{join(header(64, 32, 1), segment(3, 120, 11), name), ""},
		{join(header(4000, 56, 1), segment(3, 120, 11), name), ""},
		{header(64, 56, 1)[:63], ""},
		{[]byte("#!/bin/sh\n"), ""},
		{nil, ""},
	} {
		path := filepath.Join(dir, "program")
		if err := os.WriteFile(path, c.file, 0o755); err != nil {
			t.Fatal(err)
		}
		if got := loaderName(path, readHead(path)); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

func TestInterpreterOfAScript(t *testing.T) {
	for head, want := range map[string][2]string{
		"#!/bin/sh\necho":             {"/bin/sh", ""},
		"#! \t/bin/sh -e \nx":         {"/bin/sh", "-e"},
		"#!/usr/bin/env -S A=1 b c\n": {"/usr/bin/env", "-S A=1 b c"},
		"#!":                          {"", ""},
		"x#!/bin/sh":                  {"", ""},
		"":                            {"", ""},
	} {
		if name, rest := interpreter(head); name != want[0] || rest != want[1] {
			t.Errorf("%q: %q %q, want %q", head, name, rest, want)
		}
	}
}
