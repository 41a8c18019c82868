package e2e

import (
	"strings"
	"testing"
)

// free are specs without a pid namespace, whose pid 1 would reap.
var free = map[string]string{
	"nothing": `{}`, "counted": `{"max_commands": 10000}`, "full": `{"access_mode": "danger-full-access"}`,
	"limits": `{"limits": {"open_files": 512}}`,
}

// settled waits, for ten seconds, until no child of the supervisor is a zombie.
const settled = `
zombies() { cat /proc/[0-9]*/stat 2>/dev/null | grep -q "^[0-9]* ([^)]*) Z $1 "; }
settled() {
	n=0
	while zombies $PPID; do
		n=$((n + 1))
		if [ $n -gt 200 ]; then echo zombies are left; exit 1; fi
		sleep 0.05
	done
}
`

// eachFree runs a test under each of these specs, and for those that count with each counter.
func eachFree(t *testing.T, f func(t *testing.T, b *box, spec string)) {
	for name, spec := range free {
		t.Run(name, func(t *testing.T) { f(t, newBox(t), spec) })
	}
	t.Run("ptrace", func(t *testing.T) {
		b := newBox(t)
		b.args = append(b.args, "--counter", "ptrace")
		f(t, b, free["counted"])
	})
}

// Orphans are reaped while the command runs, and the command keeps its own status.
func TestOrphansAreReaped(t *testing.T) {
	eachFree(t, func(t *testing.T, b *box, spec string) {
		r := b.run(spec, "/bin/sh", "-c", settled+`
for i in 1 2 3 4 5 6 7 8 9 10; do (true & true & true &); done
settled
echo end
exit 7`)
		if r.code != 7 || lastLine(r.out) != "end" {
			t.Errorf("%v", r)
		}
	})
	// The control: a child that nothing waits for is seen as a zombie.
	b := newBox(t)
	r := b.plain("/bin/sh", "-c", settled+`
sh -c 'true & exec "$0" sleep 10' "$0" &
n=0
until zombies $!; do
	n=$((n + 1))
	if [ $n -gt 100 ]; then echo none is seen; exit 1; fi
	sleep 0.05
done
kill -9 $!
echo end`, b.probe())
	r.ended()
}

// The resource usage of orphans is in the record.
func TestOrphansAreInTheUsage(t *testing.T) {
	eachFree(t, func(t *testing.T, b *box, spec string) {
		r := b.run(spec, "/bin/sh", "-c", settled+`
(ulimit -t 1; "$0" spin 15000 >/dev/null 2>&1 & echo $! >pid) # until it has used about a second
n=0
while kill -0 "$(cat pid)" 2>/dev/null && [ $n -lt 200 ]; do n=$((n + 1)); sleep 0.05; done
settled
echo end`, b.probe()).ended()
		usage := r.rec["usage"].(map[string]any)
		if used := usage["user_ms"].(float64) + usage["system_ms"].(float64); used < 500 {
			t.Errorf("used %v ms", used)
		}
	})
}

// Orphans that have ended do not count against limits.pids.
func TestOrphansLeaveTheLimit(t *testing.T) {
	b := newBox(t)
	if !grouped(t, b) {
		b.run(`{"limits": {"pids": 30}}`, "true").refused("limits.pids")
		return
	}
	r := b.sh(`{"limits": {"pids": 30}}`, settled+`
for round in 1 2 3 4 5; do
	for i in 1 2 3 4 5 6 7 8 9 10; do (true &) || exit 1; done
	settled
done`)
	if r.code != 0 || lastLine(r.out) != "end" || strings.Contains(r.err, "fork") {
		t.Errorf("%v", r)
	}
	noGroupsLeft(t)
}
