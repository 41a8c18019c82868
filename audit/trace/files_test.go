package trace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// built are the C programs of testdata, compiled once.
var built struct {
	sync.Mutex
	dir  string
	have []string
}

// program returns a compiled C program of testdata.
func program(t *testing.T, name string, flags ...string) string {
	t.Helper()
	gcc := need(t, "gcc")
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "sbx-trace.")
		if err != nil {
			t.Fatal(err)
		}
		built.dir = dir
	}
	to := filepath.Join(built.dir, name+strings.Join(flags, ""))
	if !slices.Contains(built.have, to) {
		args := append([]string{"-O1", "-w", "-pthread", "-o", to, "testdata/" + name + ".c"}, flags...)
		if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			if len(flags) > 0 {
				lacks(t, fmt.Sprintf("gcc %v: %v\n%s", flags, err, out))
			}
			t.Fatalf("gcc: %v\n%s", err, out)
		}
		built.have = append(built.have, to)
	}
	return to
}

// workspace returns a directory with files that can be executed and others that cannot.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, f := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"data":     {"words\n", 0o644},
		"plain":    {"exit 3\n", 0o755},
		"badint":   {"#!/nonexistent/interpreter\n", 0o755},
		"script":   {"#!/bin/sh\ntrue; /bin/true\n", 0o755},
		"chain":    {"#!./script\n", 0o755},
		"env":      {"#!/usr/bin/env sh\n/bin/true\n", 0o755},
		"Makefile": {"all: " + strings.Join(targets(60), " ") + "\nt%:\n\t@/bin/true; /bin/true $@\n", 0o644},
	} {
		if err := os.WriteFile(dir+"/"+name, []byte(f.text), f.mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"dangling": "nowhere", "loop": "loop", "link": "/bin/true"} {
		if err := os.Symlink(to, dir+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func targets(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint("t", i))
	}
	return list
}
