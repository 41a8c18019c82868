package main

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shares measures the share of a job's processor time that answering its notifications takes: their
// number, times the cost of one on this machine, divided by what the job uses without a sandbox. It
// varies less than a ratio of two times.
func (b *bencher) shares(j job) ([]result, error) {
	cost, err := b.costs()
	if err != nil {
		return nil, err
	}
	used, err := b.processorTime(j)
	if err != nil {
		return nil, err
	}
	var results []result
	for _, s := range []struct {
		flags []string
		on    string
		gate  float64
	}{
		{[]string{"--violations", "off"}, "sbx --violations off", 2},
		{nil, "sbx", 3},
	} {
		n, err := b.answeredBy(j, s.flags)
		if err != nil {
			return nil, err
		}
		total, all := 0, time.Duration(0)
		for kind, times := range n {
			total += times
			all += time.Duration(times) * cost.of(kind)
		}
		share := 100 * float64(all) / float64(used)
		results = append(results, result{Name: j.name + "-share", Unit: "%", Rounds: 1, On: s.on, Gate: s.gate, Judged: share,
			What: fmt.Sprintf("%s: %d answers at %.1f us, of %.2f s", j.what, total, float64(all)/1e3/float64(max(total, 1)), used.Seconds()),
			Of:   map[string]stats{s.on: {share, share, share}}})
	}
	return results, nil
}

// cost is how much longer an answered call takes than an unanswered one, by the kinds of sbx exec
// --timings.
type cost struct{ exec, name, present, open time.Duration }

// of returns the cost of a kind. A kind that was not measured counts as the most expensive.
func (c *cost) of(kind string) time.Duration {
	switch kind {
	case "execs":
		return c.exec
	case "names":
		return c.name
	case "present":
		return c.present
	case "opens":
		return c.open
	}
	return max(c.exec, c.name, c.present, c.open)
}

// costs measures it once for all jobs.
func (b *bencher) costs() (cost, error) {
	if b.cost != (cost{}) {
		return b.cost, nil
	}
	for _, c := range []struct {
		call string
		to   *time.Duration
	}{{"exec", &b.cost.exec}, {"name", &b.cost.name}, {"present", &b.cost.present}, {"open", &b.cost.open}} {
		j := b.answer(c.call)
		var with, without []time.Duration
		for range 7 {
			for _, k := range []struct {
				c  contestant
				to *[]time.Duration
			}{{j.of[0], &without}, {sbx, &with}} {
				d, err := b.told(j.place, k.c.wrap(b, j.place, j.argv))
				if err != nil {
					return cost{}, err
				}
				*k.to = append(*k.to, d)
			}
		}
		slices.Sort(with)
		slices.Sort(without)
		*c.to = max(with[len(with)/2]-without[len(without)/2], 1)
	}
	return b.cost, nil
}

// processorTime returns what the job uses without a sandbox, the least of three runs.
func (b *bencher) processorTime(j job) (time.Duration, error) {
	var least time.Duration
	for range 3 {
		if err := j.clean(); err != nil {
			return 0, err
		}
		cmd := b.command(j.place, j.argv)
		if err := cmd.Run(); err != nil {
			return 0, fmt.Errorf("%q: %w", j.argv, err)
		}
		if used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); least == 0 || used < least {
			least = used
		}
	}
	return max(least, 1), nil
}

// answeredBy returns how many calls of each kind sbx answered, from its --timings.
func (b *bencher) answeredBy(j job, flags []string) (map[string]int, error) {
	if err := j.clean(); err != nil {
		return nil, err
	}
	argv := append(append([]string{b.sbx, "exec", "-q", "--timings"}, flags...), "--spec", j.place.spec, "--")
	cmd := b.command(j.place, append(argv, j.argv...))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.String())
	}
	n := map[string]int{}
	sc := bufio.NewScanner(&stderr)
	for sc.Scan() {
		if words := strings.Fields(sc.Text()); len(words) == 3 && words[0] == "answered" {
			times, err := strconv.Atoi(words[2])
			if err != nil {
				return nil, fmt.Errorf("%q: %w", sc.Text(), err)
			}
			n[words[1]] = times
		}
	}
	if len(n) > 0 {
		return n, nil
	}
	return nil, fmt.Errorf("sbx exec --timings told of no answers")
}
