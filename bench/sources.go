package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const (
	forks   = `i=0; while [ $i -lt %d ]; do /bin/true; i=$((i+1)); done`
	walk    = `tar -cf - tree | cat >/dev/null; find tree -type f -size +1k | cat >/dev/null`
	compile = `for i in 1 2 3 4 5 6 7 8; do gcc -O1 -c src/f$i.c -o src/f$i.o || exit 1; done; gcc -o src/all src/*.o`
)

// tree makes the 50,000 files, once.
func (b *bencher) tree() error {
	top := filepath.Join(b.big.workspace, "tree")
	for d := range 500 {
		dir := filepath.Join(top, fmt.Sprint(d%10), fmt.Sprint(d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for f := range 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(f)), make([]byte, 64+f*32), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// sources makes the 8 files that gcc compiles.
func (b *bencher) sources() error {
	dir := filepath.Join(b.own.workspace, "src")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := 1; i <= 8; i++ {
		text := "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/socket.h>\n"
		for f := range 60 {
			text += fmt.Sprintf("int f%d_%d(int n) { char b[64]; snprintf(b, sizeof b, \"%%d\", n); return atoi(b) * %d + (int)strlen(b); }\n", i, f, f)
		}
		if i == 1 {
			text += "int main(void) { return f1_0(0) == 1 ? 0 : 0; }\n"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.c", i)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// makefile makes the makefile for the sources.
func (b *bencher) makefile() error {
	if err := b.sources(); err != nil {
		return err
	}
	text := "all: f1.o f2.o f3.o f4.o f5.o f6.o f7.o f8.o\n\tgcc -o all $^\n%.o: %.c\n\tgcc -O1 -c -o $@ $<\n"
	return os.WriteFile(filepath.Join(b.own.workspace, "src/Makefile"), []byte(text), 0o644)
}
