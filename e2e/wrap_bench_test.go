package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// makeDirs makes directories in which to wrap commands.
func makeDirs(b *testing.B, n int) []string {
	base := b.TempDir()
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s/%d", base, i)
		if err := os.Mkdir(all[i], 0o755); err != nil {
			b.Fatal(err)
		}
	}
	return all
}

func invocationLine(dir string, i int) string {
	return fmt.Sprintf(`{"cmd": "wasmtime", "args": ["run", "--dir", "%s::/data", "mod.wasm", "%d"], "env": {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}, "cwd": "%s", "mounts": [{"kind": "dir", "label": "data", "hostPath": "%s", "guestPath": "/data", "mode": "rw"}]}`+"\n", dir, i, dir, dir)
}

// BenchmarkWrapCommand measures one `sbx wrap --json`, from start to end; floor is what starting
// any program takes here.
func BenchmarkWrapCommand(b *testing.B) {
	dir := makeDirs(b, 1)[0]
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			if _, err := exec.Command("/bin/true").Output(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, w := range []string{"none", "sbx", "bwrap", "docker"} {
		b.Run(w, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				cmd := exec.Command(sbxPath, "wrap", "--json", "--wrapper", w, "--image", "example/image:1")
				cmd.Stdin = strings.NewReader(invocationLine(dir, i))
				if out, err := cmd.Output(); err != nil || !bytes.HasPrefix(out, []byte(`{"wrapped"`)) {
					b.Fatalf("%v: %s", err, out)
				}
			}
		})
	}
}

// BenchmarkWrapStream measures one line of `sbx wrap --stream` and its answer: in one directory, in
// a hundred in turn, and each in another one. The lines are written as fast as they are read.
func BenchmarkWrapStream(b *testing.B) {
	for _, w := range []string{"none", "sbx", "bwrap", "docker"} {
		for _, n := range []int{1, 100, 2000} {
			name := fmt.Sprintf("%s/%d_folders", w, n)
			b.Run(name, func(b *testing.B) {
				dirs := makeDirs(b, n)
				cmd := exec.Command(sbxPath, "wrap", "--stream", "--wrapper", w, "--image", "example/image:1")
				in, err := cmd.StdinPipe()
				if err != nil {
					b.Fatal(err)
				}
				out, err := cmd.StdoutPipe()
				if err != nil {
					b.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				go func() {
					lines := bufio.NewWriterSize(in, 64<<10)
					for i := range b.N {
						_, _ = lines.WriteString(invocationLine(dirs[i%n], i))
					}
					_ = lines.Flush()
					_ = in.Close()
				}()
				answers := bufio.NewReaderSize(out, 1<<20)
				for i := range b.N {
					line, err := answers.ReadSlice('\n')
					if err != nil || !bytes.HasPrefix(line, []byte(`{"wrapped"`)) {
						b.Fatalf("line %d: %v: %.300s", i, err, line)
					}
				}
				b.StopTimer()
				if err := cmd.Wait(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
			})
		}
	}
}
