package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// kcmpVM asks kcmp(2) whether two processes share their memory.
const kcmpVM = 1

// kcmpCall is the number of kcmp(2), which package syscall lacks.
var kcmpCall = map[string]uintptr{"amd64": 312, "arm64": 272}[runtime.GOARCH]

// memory measures what a sandbox's own processes hold while the command sleeps. Two processes that
// share their memory count once, because the smaps of each shows all of it.
func (b *bencher) memory() ([]result, error) {
	bounds := []struct {
		what      string
		key       string
		gate, aim float64
	}{
		{"resident", "Rss:", 4, 3},
		{"private dirty", "Private_Dirty:", 1.2, 0.8},
		{"proportional", "Pss:", 0, 0},
	}
	results := make([]result, len(bounds))
	for i, m := range bounds {
		results[i] = result{Name: "memory", What: m.what + " while the command sleeps", Unit: "MiB", Rounds: 3,
			Of: map[string]stats{}, On: "sbx", Gate: m.gate, Aim: m.aim}
	}
	for _, c := range []contestant{bwrap, sbx} {
		lowest := map[string]float64{}
		for range 3 {
			kib, err := b.held(c)
			if err != nil {
				return nil, err
			}
			for key, n := range kib {
				if old, ok := lowest[key]; !ok || n/1024 < old {
					lowest[key] = n / 1024
				}
			}
		}
		for i, m := range bounds {
			results[i].Of[c.name] = stats{lowest[m.key], lowest[m.key], lowest[m.key]}
			results[i].Judged = lowest[m.key] // sbx comes last
		}
	}
	return results, nil
}

// held starts a sandbox and adds up smaps_rollup of its own processes.
func (b *bencher) held(c contestant) (map[string]float64, error) {
	argv := c.wrap(b, b.own, []string{"/bin/sleep", "100"})
	proc, err := b.start(b.own, argv, nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = proc.Kill()
		_, _ = proc.Wait()
	}()
	if err := waitFor(proc.Pid, "sleep"); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", c.name, err, b.explain(b.own, c.wrap(b, b.own, []string{"/bin/true"})))
	}
	time.Sleep(200 * time.Millisecond)
	sum := map[string]float64{}
	var counted []int
	for _, pid := range tree(proc.Pid) {
		if name(pid) == "sleep" || shares(pid, counted) {
			continue
		}
		counted = append(counted, pid)
		if err := addRollup(pid, sum); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

func shares(pid int, with []int) bool {
	for _, w := range with {
		same, _, errno := syscall.Syscall6(kcmpCall, uintptr(pid), uintptr(w), kcmpVM, 0, 0, 0)
		if errno == 0 && same == 0 {
			return true
		}
	}
	return false
}

func waitFor(pid int, command string) error {
	for range 100 {
		for _, p := range tree(pid) {
			if name(p) == command {
				return nil
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("%s never started", command)
}

// tree returns pid and all of its descendants.
func tree(pid int) []int {
	list := []int{pid}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				list = append(list, tree(child)...)
			}
		}
	}
	return list
}

func name(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(text))
}

func addRollup(pid int, sum map[string]float64) error {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		words := strings.Fields(sc.Text())
		if len(words) != 3 || words[2] != "kB" {
			continue
		}
		n, err := strconv.ParseFloat(words[1], 64)
		if err != nil {
			return err
		}
		sum[words[0]] += n
	}
	return sc.Err()
}
