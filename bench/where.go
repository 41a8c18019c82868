package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// where prints the median of each phase of a start, from the lines "timing NAME MICROSECONDS" that
// sbx exec --timings writes to stderr.
func (b *bencher) where(w io.Writer) error {
	rounds := 50
	if b.quick {
		rounds = 10
	}
	var order []string
	phases := map[string][]float64{}
	for range rounds {
		time.Sleep(b.settle)
		cmd := b.command(b.own, []string{b.sbx, "exec", "--timings", "--spec", b.own.spec, "--", "/bin/true"})
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%w: %s", err, stderr.String())
		}
		sc := bufio.NewScanner(&stderr)
		for sc.Scan() {
			name, us, ok := timing(sc.Text())
			if !ok {
				continue
			}
			if _, seen := phases[name]; !seen {
				order = append(order, name)
			}
			phases[name] = append(phases[name], us)
		}
	}
	if len(order) == 0 {
		return fmt.Errorf("sbx exec --timings printed no timing")
	}
	for _, name := range order {
		list := phases[name]
		slices.Sort(list)
		if _, err := fmt.Fprintf(w, "%-12s %8.0f us median %8.0f us least\n", name, list[len(list)/2], list[0]); err != nil {
			return err
		}
	}
	return nil
}

func timing(line string) (string, float64, bool) {
	words := strings.Fields(line)
	if len(words) != 3 || words[0] != "timing" {
		return "", 0, false
	}
	us, err := strconv.ParseFloat(words[2], 64)
	return words[1], us, err == nil
}
