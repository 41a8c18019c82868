package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// brokered is sbx with a Broker document next to the spec: one document has a single rule, the
// other a thousand.
func brokered(name, file string) contestant {
	return contestant{name, func(b *bencher, p place, argv []string) []string {
		return append([]string{b.sbx, "exec", "--spec", p.spec, "--broker", filepath.Join(filepath.Dir(p.spec), file), "--"}, argv...)
	}}
}

var (
	oneRule   = brokered("sbx with a broker", "broker.yaml")
	manyRules = brokered("with 1,000 rules", "rules.yaml")
)

// writeBrokers writes both documents.
func writeBrokers(b *bencher) error {
	var text strings.Builder
	text.WriteString("version: 1\ntools:\n" +
		"  say: {run: [echo, \"{text}\"], args: {properties: {text: {type: string}}, required: [text]}}\n" +
		"  count: {run: [wc, -w, --, \"{path}\"], args: {properties: {path: {type: string}}}, needs: [\"fs.read:{path}\"]}\n" +
		"rules:\n  - {tool: \"*\", verdict: allow}\n")
	dir := filepath.Dir(b.own.spec)
	if err := os.WriteFile(filepath.Join(dir, "broker.yaml"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	for i := range 999 {
		fmt.Fprintf(&text, "  - {tool: count, when: {path: {glob: \"secret%d/**\"}}, verdict: deny}\n", i)
	}
	return os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte(text.String()), 0o644)
}

// brokering returns the job that measures what a broker adds to a start; none if sbx has no broker
// next to it.
func brokering(b *bencher) []job {
	if !exists(filepath.Join(filepath.Dir(b.sbx), broker)) {
		return nil
	}
	return []job{{name: "broker-start", what: "start of /bin/true with a broker, more than without", place: b.own, argv: []string{"/bin/true"}, many: 1,
		rounds: 60, quick: 10, of: []contestant{sbx, oneRule, manyRules}, base: "sbx", on: oneRule.name, minus: true, gate: 6, before: func() error { return writeBrokers(b) }}}
}

// brokerMemory measures the memory of a broker with a thousand rules while the command sleeps.
func brokerMemory(b *bencher) (r result, err error) {
	r = result{Name: "broker-memory", What: "resident in the broker of 1,000 rules while the command sleeps", Unit: "MiB", Rounds: 3,
		Of: map[string]stats{}, On: manyRules.name, Gate: 25}
	if err := writeBrokers(b); err != nil {
		return r, err
	}
	for round := range r.Rounds {
		mib, err := brokerHeld(b)
		if err != nil {
			return r, err
		}
		if round == 0 || mib < r.Judged {
			r.Judged = mib
		}
	}
	r.Of[r.On] = stats{r.Judged, r.Judged, r.Judged}
	return r, nil
}

func brokerHeld(b *bencher) (float64, error) {
	proc, err := b.start(b.own, manyRules.wrap(b, b.own, []string{"/bin/sleep", "100"}), nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		_ = proc.Signal(syscall.SIGTERM)
		_, _ = proc.Wait()
	}()
	if err := waitFor(proc.Pid, "sleep"); err != nil {
		return 0, err
	}
	time.Sleep(200 * time.Millisecond)
	for _, pid := range tree(proc.Pid) {
		if name(pid) == broker {
			sum := map[string]float64{}
			err := addRollup(pid, sum)
			return sum["Rss:"] / 1024, err
		}
	}
	return 0, fmt.Errorf("%s never started", broker)
}
