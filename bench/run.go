package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// result is the result of a job.
type result struct {
	Name      string           `json:"name"`
	What      string           `json:"what"`
	Unit      string           `json:"unit"`
	Rounds    int              `json:"rounds"`
	Of        map[string]stats `json:"of"`
	Base      string           `json:"base,omitempty"`
	On        string           `json:"on"`
	OfMedians float64          `json:"ratio_of_medians,omitempty"`
	OfMinima  float64          `json:"ratio_of_minima,omitempty"`
	Judged    float64          `json:"judged"`
	Gate      float64          `json:"gate,omitempty"`
	Aim       float64          `json:"aim,omitempty"`
}

// stats are the statistics of one contestant's samples.
type stats struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	P95    float64 `json:"p95"`
}

// enough is the number of rounds for which medians are judged; with fewer rounds the minima are.
const enough = 15

// run lets the contestants take turns, each round with another one first.
func (b *bencher) run(j job) ([]result, error) {
	if j.before != nil {
		if err := j.before(); err != nil {
			return nil, err
		}
	}
	rounds := j.rounds
	if b.quick {
		rounds = j.quick
	}
	if b.rounds > 0 {
		rounds = b.rounds
	}
	samples := map[string][]time.Duration{}
	// Round -1 only warms the caches.
	for round := -1; round < rounds; round++ {
		for i := range j.of {
			c := j.of[(i+round+1)%len(j.of)]
			argv := c.wrap(b, j.place, j.argv)
			d, err := b.sample(j, argv)
			if err != nil {
				return nil, fmt.Errorf("%s: %w: %s", c.name, err, b.explain(j.place, argv))
			}
			if round >= 0 {
				samples[c.name] = append(samples[c.name], d)
			}
		}
		if round%20 == 0 {
			b.sweep(j.place)
		}
	}
	results := []result{j.result(samples, rounds)}
	for _, a := range j.also {
		j.on, j.gate, j.aim = a.on, a.gate, a.aim
		results = append(results, j.result(samples, rounds))
	}
	return results, nil
}

func (b *bencher) sample(j job, argv []string) (time.Duration, error) {
	if err := j.clean(); err != nil {
		return 0, err
	}
	time.Sleep(j.pause)
	if j.told {
		return b.told(j.place, argv)
	}
	return b.once(j.place, argv, j.many)
}

// clean removes the files that an earlier sample has made.
func (j *job) clean() error {
	for _, name := range j.fresh {
		if err := os.RemoveAll(filepath.Join(j.place.workspace, name)); err != nil {
			return err
		}
	}
	return nil
}

// sweep moves the records of the runs so far aside, because nobody works with a directory of
// thousands of them. It removes them only at the end: ext4 does not reuse the inode of a removed
// file for some minutes and examines each one again whenever a file is created (recently_deleted),
// so hundreds of removals here would double the cost of the next records.
func (b *bencher) sweep(p place) {
	state := filepath.Join(filepath.Dir(p.home), "state", "sbx")
	b.swept++
	_ = os.Rename(state, filepath.Join(b.dir, fmt.Sprint("records-", b.swept)))
}

func (j job) result(samples map[string][]time.Duration, rounds int) result {
	r := result{Name: j.name, What: j.what, Unit: "ms", Rounds: rounds, Of: map[string]stats{},
		Base: j.base, On: j.on, Gate: j.gate, Aim: j.aim}
	per := time.Millisecond
	if j.told {
		r.Unit, per = "us", time.Microsecond
	}
	for name, list := range samples {
		slices.Sort(list)
		in := func(d time.Duration) float64 { return float64(d) / float64(per) }
		r.Of[name] = stats{in(list[len(list)/2]), in(list[0]), in(list[len(list)*95/100])}
	}
	base, on := r.Of[j.base], r.Of[j.on]
	r.OfMedians, r.OfMinima = on.Median/base.Median, on.Min/base.Min
	r.Judged = r.OfMinima
	if rounds >= enough {
		r.Judged = r.OfMedians
	}
	if j.minus {
		if r.Judged = on.Min - base.Min; rounds >= enough {
			r.Judged = on.Median - base.Median
		}
	}
	return r
}
