package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// watching returns the jobs that measure what answering notifications costs.
func (b *bencher) watching() []job {
	self := filepath.Join(b.own.workspace, helper)
	counting := []contestant{none, uncounted, sbx}
	if _, err := exec.LookPath("strace"); err == nil {
		counting = append(counting, strace)
	}
	counting = append(counting, traced)
	return []job{
		{name: "counting", what: "1000 programs, counted", place: b.own, argv: sh(fmt.Sprintf(forks, 1000)), many: 1,
			rounds: 15, quick: 4, of: counting, base: "sbx uncounted", on: "sbx", gate: 1.10, aim: 1.05},
		b.answer("exec"), b.answer("relative-exec"), b.answer("open"), b.answer("name"), b.answer("present"),
		{name: "untar", what: "tar -x of 20,000 small files, described", place: b.own, argv: sh("mkdir out && tar -xf small.tar -C out"), many: 1, fresh: []string{"out"},
			rounds: 15, quick: 3, of: []contestant{none, uncounted, names, sbx}, base: "sbx uncounted", on: "sbx", gate: 1.60, aim: 1.30, before: b.archive,
			also: []bound{{on: "sbx --violations names", gate: 1.05}}},
		{name: "checkout", what: "git checkout of 20,000 small files, described", place: b.own, argv: sh(checkout), many: 1, fresh: []string{"tree20000", "index20000"},
			rounds: 15, quick: 3, of: []contestant{none, uncounted, names, sbx}, base: "sbx uncounted", on: "sbx", gate: 1.60, aim: 1.30, before: b.repository,
			also: []bound{{on: "sbx --violations names", gate: 1.05}}},
		{name: "refused", what: "10,000 refused opens, each", place: b.own, argv: []string{self, "refused", "10000"}, told: true,
			rounds: 15, quick: 3, of: []contestant{uncounted, sbx}, base: "sbx uncounted", on: "sbx"},
	}
}

// answer returns a job of calls that the supervisor answers: an exec that fails as in a search
// along PATH, an exec by a relative path, an open that can write, the removal of a name, or a mkdir
// of an existing directory. Without counting and descriptions none of these calls is notified,
// except the last, which protected names need.
func (b *bencher) answer(call string) job {
	j := job{name: "answered-" + call, what: "answering one " + call + ", more than unanswered", place: b.own,
		argv: []string{filepath.Join(b.own.workspace, helper), "answered", call, "10000"}, told: true, minus: true,
		rounds: 15, quick: 3, of: []contestant{uncounted, sbx}, base: "sbx uncounted", on: "sbx"}
	switch call {
	case "exec":
		j.gate, j.aim = 15, 10
	case "present":
		j.of, j.base = []contestant{none, sbx}, "none"
	}
	return j
}

// archive makes an archive of the small files, once.
func (b *bencher) archive() error {
	tar := filepath.Join(b.own.workspace, "small.tar")
	if _, err := os.Stat(tar); err == nil {
		return nil
	}
	dir := filepath.Join(b.dir, "small")
	if err := small(dir); err != nil {
		return err
	}
	if out, err := exec.Command("tar", "-cf", tar, "-C", dir, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("tar: %w: %s", err, out)
	}
	return os.RemoveAll(dir)
}

// checkout writes all files of a repository, with an index of its own.
const checkout = `mkdir tree20000 && ` +
	`GIT_INDEX_FILE=$PWD/index20000 git --git-dir=small.git --work-tree=tree20000 checkout -q -f HEAD -- .`

// repository makes a repository of the small files, once.
func (b *bencher) repository() error {
	if _, err := os.Stat(filepath.Join(b.own.workspace, "small.git")); err == nil {
		return nil
	}
	dir := filepath.Join(b.dir, "checkout")
	if err := small(dir); err != nil {
		return err
	}
	script := "git init -q . && git add . && git -c user.name=b -c user.email=b@localhost -c gc.auto=0 commit -q -m small && git clone -q --bare . " +
		filepath.Join(b.own.workspace, "small.git") + " && git -C " + filepath.Join(b.own.workspace, "small.git") + " repack -q -a -d"
	if out, err := b.shell(dir, script); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return os.RemoveAll(dir)
}

// small makes 20,000 small files, all different.
func small(dir string) error {
	for d := range 200 {
		sub := filepath.Join(dir, fmt.Sprint(d))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return err
		}
		for f := range 100 {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprint(f)), []byte(fmt.Sprintf("%-500d", d*100+f)), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
