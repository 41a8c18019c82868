package e2e

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// fills forks until that fails, and then makes connects that wait; the supervisor needs a thread
// for each.
const fills = `
import os, resource, socket, time
print("limit", resource.getrlimit(resource.RLIMIT_NPROC)[0], flush=True)
server = socket.socket(socket.AF_UNIX)
server.bind("queue")
server.listen(0)
read, write = os.pipe()
for i in range(40):
    if os.fork() == 0:
        os.close(write)
        os.read(read, 1)
        try: socket.socket(socket.AF_UNIX).connect("queue")
        except OSError: pass
        time.sleep(60)
        os._exit(0)
full = False
for i in range(2000):
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    except BlockingIOError:
        full = True
        break
print("full", full, flush=True)
os.write(write, b"x" * 40)
late = 0
while late < 100: # the supervisor answers, however many connects wait
    late += 1
    try: socket.socket(socket.AF_UNIX).connect("nothing")
    except OSError: pass
    time.sleep(0.01)
print("end", flush=True)
os._exit(0)
`

// A command that uses up its user's processes does not thereby end its supervisor, which needs
// threads.
func TestUsersProcessesAreUsedUp(t *testing.T) {
	needSandbox(t)
	if isRoot() {
		t.Skip("RLIMIT_NPROC does not bound root")
	}
	needPrograms(t, "prlimit")
	python := "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		python = needPrograms(t, "python3")
	}
	b := newBox(t)
	b.write(b.ws+"/fills.py", fills)
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	cmd := b.command(ctx, specWW, python, "fills.py")
	cmd.Path = needPrograms(t, "prlimit")
	cmd.Args = append([]string{"prlimit", "--nproc=800:800", "--"}, cmd.Args...)
	cmd.WaitDelay = 2 * time.Second
	r := b.finish(cmd).ended()
	if r.rec.at("state") != "exited" || !strings.Contains(r.out, "limit 800\n") || !strings.Contains(r.out, "full True\n") {
		t.Errorf("%v", r)
	}
}
