package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"
)

// total prints the sum of the runs saved at paths. It returns false unless all succeeded.
func total(w io.Writer, paths []string, maySkip string, mustRun bool) (bool, error) {
	runs := make([]Run, len(paths))
	for i, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			return false, err
		}
		if err := json.Unmarshal(b, &runs[i]); err != nil {
			return false, fmt.Errorf("%s: %w", p, err)
		}
	}
	listed, err := readList(maySkip)
	if err != nil {
		return false, err
	}
	passed, skipped := 0, 0
	var failed []string
	for _, r := range runs {
		passed += len(r.Passed)
		skipped += len(r.Skipped)
		for _, name := range r.Failed {
			failed = append(failed, r.Label+": "+name)
		}
		if r.Exit != 0 && len(r.Failed) == 0 {
			failed = append(failed, fmt.Sprintf("%s: go test ended with %d", r.Label, r.Exit))
		}
	}
	printSkips(w, runs)
	if mustRun {
		for name, why := range nowhere(runs) {
			if _, ok := listed[name]; !ok {
				failed = append(failed, "no run could do "+name+": "+why)
				for _, r := range runs {
					if _, ok := r.Skipped[name]; ok {
						skipped--
					}
				}
			}
		}
	}
	sort.Strings(failed)
	for _, f := range failed {
		fmt.Fprintln(w, "FAIL", f)
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", passed, len(failed), skipped)
	return len(failed) == 0 && passed > 0, nil
}

// nowhere returns the tests that were skipped, in whole or in part, and that no run did, each with
// a reason. Not every run has every test: some have those of another language.
func nowhere(runs []Run) map[string]string {
	done := map[string]bool{}
	for _, r := range runs {
		for _, name := range slices.Concat(r.Passed, r.Failed) {
			done[name] = true
			for i := strings.LastIndexByte(name, '/'); i >= 0; i = strings.LastIndexByte(name[:i], '/') {
				done[name[:i]] = true
			}
		}
	}
	all := map[string]string{}
	for _, r := range runs {
		for name, why := range r.Skipped {
			if !done[name] {
				all[name] = why
			}
		}
	}
	return all
}

func printSkips(w io.Writer, runs []Run) {
	for _, r := range runs {
		byReason := map[string]int{}
		for _, why := range r.Skipped {
			byReason[why]++
		}
		reasons := slices.Collect(maps.Keys(byReason))
		sort.Slice(reasons, func(i, j int) bool {
			a, b := reasons[i], reasons[j]
			return byReason[a] > byReason[b] || byReason[a] == byReason[b] && a < b
		})
		for _, why := range reasons {
			fmt.Fprintf(w, "skipped as %s: %d: %s\n", r.Label, byReason[why], why)
		}
	}
}

// readList reads "name reason" lines. The reason is for people and is required.
func readList(path string) (map[string]string, error) {
	list := map[string]string{}
	if path == "" {
		return list, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for n, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, why, _ := strings.Cut(line, " ")
		if why == "" {
			return nil, fmt.Errorf("%s:%d: %s has no reason", path, n+1, name)
		}
		list[name] = why
	}
	return list, nil
}
