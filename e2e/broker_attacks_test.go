package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A link that the command makes is not followed, even if it is made while the call is being
// decided.
func TestBrokerFollowsNoLinks(t *testing.T) {
	needSandbox(t)
	box := newBoxElsewhere(t)
	b, answer := box.broker(brokerTools, ofBroker{environ: brokerEnv(), view: []map[string]any{{"path": box.ws + "/hidden", "access": "hidden"}}})
	if answer["ready"] == nil {
		t.Fatal(answer)
	}
	secret := b.write(b.out+"/secret", "the secret\n")
	hidden := b.write(b.ws+"/hidden", "the hidden\n")
	b.write(b.ws+"/dir/file", "plain\n")
	must(t, os.Symlink(secret, b.ws+"/link"))
	must(t, os.Symlink(b.out, b.ws+"/folder"))
	must(t, os.Symlink("hidden", b.ws+"/inner"))
	for _, path := range []string{"link", "folder/secret", "inner"} {
		if text := b.plain("cat", path).out; !strings.HasPrefix(text, "the ") { // the control
			t.Errorf("without a broker %s is %q", path, text)
		}
		b.call("cat", `{"path": "`+path+`"}`).denied(t, 502, "a link is on the way")
	}
	b.call("cat", `{"path": "hidden"}`).denied(t, 403, "capabilities")
	if out := b.call("cat", `{"path": "dir/file"}`).stdout(t); out != "plain\n" {
		t.Errorf("the control reads %q", out)
	}
	// The file is swapped all the time: the result is the file's own content, or an error.
	stop, gone := make(chan struct{}), make(chan struct{})
	var swapped atomic.Int64
	go func() {
		defer close(gone)
		for targets := []string{secret, hidden, b.ws + "/dir"}; ; swapped.Add(1) {
			select {
			case <-stop:
				return
			default:
			}
			n := int(swapped.Load())
			os.Symlink(targets[n%3], b.ws+"/new")
			unix.Renameat2(unix.AT_FDCWD, b.ws+"/new", unix.AT_FDCWD, b.ws+"/dir/file", unix.RENAME_EXCHANGE)
			time.Sleep(time.Duration(n%7) * 5 * time.Millisecond)
			unix.Renameat2(unix.AT_FDCWD, b.ws+"/new", unix.AT_FDCWD, b.ws+"/dir/file", unix.RENAME_EXCHANGE)
			os.Remove(b.ws + "/new")
			time.Sleep(time.Duration(n%11) * 5 * time.Millisecond)
		}
	}()
	for n := 0; n < 400 && (n < 25 || swapped.Load() < 50); n++ {
		if r := b.call("cat", `{"path": "dir/file"}`); strings.Contains(r.text, "the secret") || strings.Contains(r.text, "the hidden") {
			t.Errorf("a link that was laid meanwhile was followed: %s", r.text)
		}
	}
	close(stop)
	<-gone
}

const brokerOutput = `
version: 1
tools:
  make:
    run: [sh, -c, "{script}"]
    args: {properties: {script: {type: string}}, required: [script]}
    needs: ["fs.write:/output"]
rules: [{tool: "*", verdict: allow}]
`

// An artifact is a regular file under /output that this step made, checked by the descriptor that
// is hashed.
func TestBrokerLooksAtArtifacts(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerOutput, ofBroker{output: true})
	outside := b.write(b.out+"/file", "outside\n")
	b.write(b.output+"/old", "old\n")
	expect := func(script, artifacts string) brokerReply {
		return b.call("make", `{"script": `+strconv.Quote(script)+`}`, `"expected_artifacts": [`+artifacts+`]`)
	}
	r := expect("echo hello >/output/a; mkdir /output/d; echo more >/output/d/more", `{"path": "/output/a", "min_size": 1, "max_size": 10}`)
	r.stdout(t)
	if !strings.Contains(r.text, `"sha256":"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"`) || !strings.Contains(r.text, `"unexpected":["/output/d/more"]`) {
		t.Errorf("the artifacts are %s", r.text)
	}
	b.holds(b.output+"/a", "hello\n")
	for _, c := range []struct{ name, script, artifact, why string }{
		{"not made", "true", `{"path": "/output/none"}`, "it was not made"},
		{"made before", "true", `{"path": "/output/old"}`, "not made in this step"},
		{"made by an earlier step", "true", `{"path": "/output/a"}`, "not made in this step"},
		{"too small", "echo 1 >/output/s", `{"path": "/output/s", "min_size": 3}`, "2 bytes"},
		{"too large", "echo 12345 >/output/l", `{"path": "/output/l", "max_size": 3}`, "6 bytes"},
		{"of another digest", "echo x >/output/x", `{"path": "/output/x", "sha256": "` + strings.Repeat("0", 64) + `"}`, "its SHA-256 is"},
		{"a link", "ln -s " + outside + " /output/link", `{"path": "/output/link"}`, "a link is on the way"},
		{"by a link", "ln -s /etc /output/etc", `{"path": "/output/etc/passwd"}`, "a link is on the way"},
		{"with two names", "echo x >/output/n; ln /output/n /output/m", `{"path": "/output/n"}`, "another name"},
		{"a directory", "mkdir /output/f", `{"path": "/output/f"}`, "not a regular file"},
		{"a FIFO", "mkfifo /output/p", `{"path": "/output/p"}`, "not a regular file"},
		{"elsewhere", "true", `{"path": "/output/../x"}`, "under /output"},
	} {
		if r := expect(c.script, c.artifact); r.code != 502 && r.code != 400 || !strings.Contains(r.text, c.why) {
			t.Errorf("%s: %d: %s", c.name, r.code, r.text)
		}
	}
	// A file that is written again counts as made.
	expect("echo new >/output/old", `{"path": "/output/old"}`).stdout(t)
	if done := b.audit("done"); !strings.Contains(fmt.Sprint(done[0]["artifacts"]), "5891b5b5") {
		t.Errorf("the audit says %v", done[0])
	}
}

// If an artifact is swapped while it is checked, the result is the file that was hashed, or none.
func TestBrokerArtifactsAreNotSwapped(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerOutput, ofBroker{output: true})
	must(t, os.WriteFile(b.out+"/evil", []byte("evil"), 0o644))
	stop := make(chan struct{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			os.Symlink(b.out+"/evil", b.output+"/swap")
			unix.Renameat2(unix.AT_FDCWD, b.output+"/swap", unix.AT_FDCWD, b.output+"/a", unix.RENAME_EXCHANGE)
			unix.Renameat2(unix.AT_FDCWD, b.output+"/swap", unix.AT_FDCWD, b.output+"/a", unix.RENAME_EXCHANGE)
			os.Remove(b.output + "/swap")
		}
	}()
	for i := range 12 {
		r := b.call("make", fmt.Sprintf(`{"script": "rm -f /output/a; head -c 3000000 /dev/zero >/output/a; echo %d >>/output/a"}`, i), `"expected_artifacts": [{"path": "/output/a", "min_size": 3000000}]`)
		if r.code == 200 && !strings.Contains(r.text, `"size":300000`) {
			t.Errorf("%d: %s", r.code, r.text)
		}
	}
	close(stop)
	<-gone
}

// A question waits for a person: yes runs the call; no, and no answer, do not.
func TestBrokerAsks(t *testing.T) {
	needSandbox(t)
	document := strings.Replace(brokerTools, "{id: all, tool: \"*\", verdict: allow}", "{id: all, tool: \"*\", verdict: ask, reason: a person sees it}", 1)
	document = strings.Replace(document, "version: 1", "version: 1\nask_timeout: 5s", 1)
	box := newBoxElsewhere(t)
	must(t, os.MkdirAll(box.base+"/state/sbx/runs", 0o700))
	must(t, os.MkdirAll(box.base+"/run", 0o700))
	must(t, os.Symlink(box.base+"/run", box.base+"/state/sbx/runs/r"))
	b, answer := box.broker(document, ofBroker{environ: brokerEnv()})
	if answer["ready"] == nil {
		t.Fatal(answer)
	}
	program := filepath.Join(filepath.Dir(sbxPath), "sbx-broker")
	for word, code := range map[string]int{"yes": 200, "no": 403} {
		got := make(chan brokerReply)
		go func() { got <- b.call("say", `{"text": "`+word+`"}`) }()
		ask := b.until("ask")
		if ask["reason"] != "a person sees it" || ask["tool"] != "say" {
			t.Errorf("it asks %v", ask)
		}
		if r := b.plain(program, "answer"); !strings.Contains(r.out, fmt.Sprint(ask["id"])+`: say {"text":"`+word+`"}`) {
			t.Errorf("it lists %v", r)
		}
		if r := b.plain(program, "answer", "other", "yes"); r.code != 1 || !strings.Contains(r.err, "no question other waits") {
			t.Errorf("another's answer: %v", r)
		}
		if r := b.plain(program, "answer", fmt.Sprint(ask["id"]), word); r.code != 0 {
			t.Errorf("the answer: %v", r)
		}
		if r := <-got; r.code != code {
			t.Errorf("%s gives %d: %s", word, r.code, r.text)
		}
	}
	b.call("say", `{"text": "nobody"}`).denied(t, 403, "nobody answered within 5s")
	if lines := b.audit("answered"); len(lines) != 3 {
		t.Errorf("the audit has %v", lines)
	}
	if done := b.audit("done"); len(done) != 1 {
		t.Errorf("it ran %v", done)
	}
}

// Whichever process is killed, nothing that was started remains, and the audit has what was asked.
func TestBrokerLeavesNothing(t *testing.T) {
	needSandbox(t)
	marked := func(mark string) (pids []int) {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), mark) {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
				pids = append(pids, pid)
			}
		}
		return pids
	}
	for name, kill := range map[string]func(b *brokered, pids []int){
		"the broker":     func(b *brokered, _ []int) { must(t, b.cmd.Process.Kill()) },
		"the supervisor": func(b *brokered, _ []int) { b.control.Close() },
		"the end":        func(b *brokered, _ []int) { b.send(map[string]any{"end": map[string]any{}}) },
		"the tool":       func(b *brokered, pids []int) { must(t, syscall.Kill(pids[0], syscall.SIGKILL)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv()})
			seconds := "7" + strconv.Itoa(os.Getpid()) + strconv.Itoa(int(time.Now().UnixNano()%1e6))
			mark := "sleep\x00" + seconds
			ended := make(chan bool)
			go func() {
				req := fmt.Sprintf(`{"tool_name": "sh", "tool_args": {"script": "sleep %s & sleep %s"}}`, seconds, seconds)
				quietly(b.url, req)
				ended <- true
			}()
			within(t, limit, "the tool to run", func() bool { return len(marked(mark)) > 0 })
			pids := marked(mark)
			kill(b, pids)
			if name != "the tool" {
				within(t, limit, "the tool to end", func() bool { return len(marked(mark)) == 0 })
			} else {
				for _, pid := range marked(mark) {
					syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			<-ended
			if asked := b.audit("asked"); len(asked) != 1 {
				t.Errorf("the audit has %v", asked)
			}
		})
	}
}
