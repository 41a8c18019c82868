package e2e

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// 64 drivers use one database of Intercore's at the same time, which was of an old version: it is
// migrated once, each row is complete, and no process sees a lock.
func TestDispatchManyDrivers(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.intercore(17)
	prompt := b.write("task.sh", "/bin/true; exit $(wc -l <own.txt)\n")
	const many = 64
	var all sync.WaitGroup
	results := make([]result, many)
	for i := range many {
		b.sql("INSERT INTO dispatches (id, agent_type, project_dir, prompt_file, output_file) VALUES (?, 'sh', ?, ?, ?)",
			fmt.Sprint("d", i), b.ws, prompt, fmt.Sprint(b.out, "/o", i))
	}
	b.write("ws/own.txt", "one\ntwo\n")
	for i := range many {
		cmd := b.driver(fmt.Sprint(b.out, "/o", i), prompt)
		all.Go(func() {
			out, err := cmd.CombinedOutput()
			results[i] = result{t: t, err: string(out), code: -1}
			if cmd.ProcessState != nil {
				results[i].code = statusOf(cmd.ProcessState)
			} else {
				results[i].err += err.Error()
			}
		})
	}
	all.Wait()
	for i, r := range results {
		if r.code != 2 || strings.Contains(r.err, "lock") {
			t.Errorf("%d: %v", i, r)
		}
		row := b.row(fmt.Sprint("d", i))
		if row.text("status") != "failed" || row.whole("exit_code") != 2 || row.whole("commands") != 2 || row.effective().text("state") != "exited" {
			t.Errorf("%d: %v", i, row)
		}
	}
	if files, _ := os.ReadDir(b.ws + "/.clavain"); len(files) == 0 || countBackups(files) != 1 {
		t.Errorf("%v", files)
	}
}

func countBackups(files []os.DirEntry) int {
	n := 0
	for _, f := range files {
		if strings.Contains(f.Name(), ".sbx-backup-v17-") {
			n++
		}
	}
	return n
}

// Of two drivers for one row one runs it, by whichever name they find it.
func TestDispatchDriverOnce(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.intercore(20)
	prompt := b.write("task.sh", "echo run >>log; sleep 1\n")
	b.insert("one", "sh", b.out+"/o", prompt, nil)
	must(t, os.Symlink(b.ws, b.base+"/link"))
	codes := make(chan int, 4)
	for i := range 4 {
		cmd := b.driver(b.out+"/o", prompt, "-C", b.base+[]string{"/link", "/ws"}[i%2])
		go func() {
			_ = cmd.Run()
			codes <- statusOf(cmd.ProcessState)
		}()
	}
	won := 0
	for range 4 {
		switch code := <-codes; code {
		case 0:
			won++
		case 125:
		default:
			t.Errorf("status %d", code)
		}
	}
	b.holds("ws/log", "run\n")
	if won != 1 || b.row("one").text("status") != "completed" {
		t.Errorf("%d ran it, %v", won, b.row("one"))
	}
}

// The processes that a spawn starts keep nothing of the caller's: neither a pipe on which another
// process waits, nor its session.
func TestDispatchLetsGo(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	read, write, err := os.Pipe()
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, sbxPath, "dispatch", "spawn", "--json", "--", "sleep", "20")
	cmd.Dir, cmd.Env, cmd.ExtraFiles = b.ws, b.env, []*os.File{write}
	out, err := cmd.Output()
	must(t, err)
	write.Close()
	begun := time.Now()
	bufio.NewReader(read).ReadByte()
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the pipe was held for %v", took)
	}
	var id string
	var pid int
	if _, err := fmt.Sscanf(string(out), `{"id": %q, "pid": %d}`, &id, &pid); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	if session, err := getsid(pid); err != nil || session != pid {
		t.Errorf("session %d of %d, %v", session, pid, err)
	}
	if r := b.dispatch("kill", id); r.out != "killed\n" {
		t.Errorf("%v", r)
	}
	if err := syscall.Kill(pid, 0); err == nil && b.row(id).text("status") != "cancelled" {
		t.Errorf("%v", b.row(id))
	}
	// A file that would have to be waited for without end is refused.
	must(t, syscall.Mkfifo(b.base+"/fifo", 0o600))
	if r := b.dispatch("spawn", "--prompt-file", b.base+"/fifo", "--", "cat"); r.code != 125 {
		t.Errorf("%v", r)
	}
}

func getsid(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+2:])
	var sid int
	_, err = fmt.Sscan(f[3], &sid)
	return sid, err
}
