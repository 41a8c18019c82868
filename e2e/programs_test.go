package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// works runs a script under workspace-write and fails unless it prints want. The control is the
// same script under no constraint, in a directory of its own.
func (b *box) works(script, want string) {
	b.t.Helper()
	for _, spec := range []string{specNone, specWW} {
		r := b.sh(spec, "set -e\n"+script)
		if r.code != 0 || r.out != want+"end\n" {
			b.t.Errorf("%s: %v, want %q", spec, r, want)
		}
	}
}

func TestCompilerAndMake(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc", "make")
	eachPlace(t, func(t *testing.T, b *box) {
		b.write("ws/a.c", "#include <stdio.h>\nint b(void); int main(void) { printf(\"%d\\n\", b()); return 0; }\n")
		b.write("ws/b.c", "int b(void) { return 42; }\n")
		b.write("ws/Makefile", "prog: a.o b.o\n\tgcc -o prog a.o b.o\n%.o: %.c\n\tgcc -O1 -c -o $@ $<\nclean:\n\trm -f prog *.o\n")
		b.works("make -s clean; make -s -j4; ./prog", "42\n")
	})
}

func TestGoBuild(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "go")
	b := newBoxElsewhere(t)
	b.write("ws/go.mod", "module example.com/hello\n\ngo 1.21\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ./lib\n")
	b.write("ws/lib/go.mod", "module example.com/lib\n\ngo 1.21\n")
	b.write("ws/lib/lib.go", "package lib\n\n// Word is said.\nconst Word = \"hello\"\n")
	b.write("ws/main.go", "package main\n\nimport \"example.com/lib\"\n\nfunc main() { println(lib.Word) }\n") // only the runtime, which compiles quickly
	b.env = append(b.env, "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local", "GOCACHE="+b.ws+"/.gocache", "GOPATH="+b.ws+"/.gopath", "CGO_ENABLED=0", "GOTELEMETRY=off", "GOROOT="+goRoot(t))
	b.works("go build -o hello . && ./hello 2>&1", "hello\n")
}

func goRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	root := strings.TrimSpace(string(out))
	if isPrivate(root) {
		t.Skip("Go itself lies in a directory that is private inside")
	}
	return root
}

func TestNode(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "node")
	eachPlace(t, func(t *testing.T, b *box) {
		b.write("ws/main.js", `
const fs = require('fs'), { Worker, isMainThread, parentPort } = require('worker_threads'), { execFileSync } = require('child_process'), crypto = require('crypto');
if (!isMainThread) { parentPort.postMessage(crypto.createHash('sha256').update('x').digest('hex').slice(0, 8)); }
else {
  fs.writeFileSync('out.txt', 'written');
  const w = new Worker(__filename);
  w.on('message', async m => {
    const text = await fs.promises.readFile('out.txt', 'utf8');
    console.log(m, text, execFileSync('echo', ['child']).toString().trim(), require('os').tmpdir().length > 0);
    const s = require('http').createServer((q, a) => a.end('served')).listen(0, '127.0.0.1', () => {
      require('http').get({ port: s.address().port, host: '127.0.0.1' }, a => a.on('data', d => { console.log(d.toString()); s.close(); }));
    });
  });
}
`)
		b.works("node main.js", "2d711642 written child true\nserved\n")
	})
}

func TestPython(t *testing.T) {
	needSandbox(t)
	// A shim that looks for the real program in a home would look in the box's.
	python := "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		python = needPrograms(t, "python3")
	}
	eachPlace(t, func(t *testing.T, b *box) {
		b.write("ws/main.py", `
import concurrent.futures, multiprocessing, socket, subprocess, tempfile, threading

def square(n): return n * n

if __name__ == "__main__":
    got = []
    threads = [threading.Thread(target=lambda i=i: got.append(i)) for i in range(8)]
    [t.start() for t in threads]; [t.join() for t in threads]
    print("threads", sorted(got))
    with multiprocessing.Pool(4) as pool: print("fork", pool.map(square, range(5)))
    with multiprocessing.get_context("spawn").Pool(2) as pool: print("spawn", pool.map(square, range(3)))
    with concurrent.futures.ProcessPoolExecutor(2) as pool: print("executor", list(pool.map(square, [7])))
    q = multiprocessing.Queue(); q.put("queued"); print(q.get(timeout=5))
    print(subprocess.run(["echo", "child"], capture_output=True, text=True, check=True).stdout.strip())
    with tempfile.NamedTemporaryFile() as f: f.write(b"x"); print("temporary", f.tell())
    s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname(), 5); c.close(); print("loopback")
`)
		b.works(python+" main.py", "threads [0, 1, 2, 3, 4, 5, 6, 7]\nfork [0, 1, 4, 9, 16]\nspawn [0, 1, 4]\nexecutor [49]\nqueued\nchild\ntemporary 1\nloopback\n")
	})
}

func TestTarAndFriends(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "tar", "gzip", "find", "sed", "sort", "xargs")
	eachPlace(t, func(t *testing.T, b *box) {
		b.works(`rm -rf t u a.tgz; mkdir -p t/sub; for i in 1 2 3; do echo $i >t/sub/f$i; done; ln -s sub/f1 t/link; chmod 750 t/sub
			tar -czf a.tgz t; mkdir u; tar -C u -xzf a.tgz; diff -r t u/t; readlink u/t/link; stat -c %a u/t/sub
			find u -type f | sort | xargs cat | sed 's/^/n/' | paste -sd+; mktemp -d >/dev/null; cp -a t v; rm -rf v; touch -d 2001-01-01 t/sub/f1; date -r t/sub/f1 +%Y`, "sub/f1\n750\nn1+n2+n3\n2001\n")
	})
}

// Debugging inside works.
func TestStraceInside(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "strace")
	b := newBoxElsewhere(t)
	b.works(`strace -f -o trace -e trace=execve,openat sh -c 'cat file; exit 0' 2>/dev/null || true; grep -c 'execve(.*= 0' trace >/dev/null && echo traced; rm -f trace`, "traced\n")
	b.works(`sh -c 'i=0; while [ $i -lt 100 ]; do sleep 0.05; i=$((i+1)); done' & p=$!; strace -o trace -p $p 2>/dev/null & s=$!
		i=0; while [ $i -lt 60 ] && ! grep -q wait4 trace 2>/dev/null; do sleep 0.05; i=$((i+1)); done
		kill $p; wait $s || true; grep -q wait4 trace && echo attached; rm -f trace`, "attached\n")
}

func TestNpmInstall(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "npm", "node")
	b := newBoxElsewhere(t)
	b.write("ws/package.json", `{"name":"app","version":"1.0.0","dependencies":{"lib":"file:./lib"}}`)
	b.write("ws/lib/package.json", `{"name":"lib","version":"1.0.0","main":"i.js","scripts":{"postinstall":"node -e \"require('fs').writeFileSync('built','yes')\""}}`)
	b.write("ws/lib/i.js", "module.exports = 'from the library';\n")
	b.env = append(b.env, "npm_config_cache="+b.ws+"/.npm", "npm_config_update_notifier=false", "npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false")
	b.works(`rm -rf node_modules package-lock.json; npm install --silent >log 2>&1 || { cat log; exit 1; }; node -p "require('lib')"`, "from the library\n")
}

// A WASI runner reads and writes a mounted directory.
func TestWasiRunner(t *testing.T) {
	needSandbox(t)
	wazero, module := wasiReady(t)
	b := newBoxElsewhere(t)
	for from, name := range map[string]string{wazero: "wazero", module: "guest.wasm"} {
		text, err := os.ReadFile(from)
		must(t, err)
		must(t, os.WriteFile(b.ws+"/"+name, text, 0o755))
	}
	b.write("data/in.txt", "words")
	mounts := func(mode string) string {
		return `{"access_mode":"workspace-write","filesystem":{"mounts":[{"label":"d","source":` + quoted(b.base+"/data") + `,"target":"/sbx-e2e-job","mode":"` + mode + `"}]}}`
	}
	const dirs = "-mount /sbx-e2e-job:/data -mount /sbx-e2e-job:/out guest.wasm"
	// The interpreter is tried, and a compiler of wasm, which maps executable memory.
	for _, flags := range []string{"-interpreter ", ""} {
		os.Remove(b.base + "/data/x")
		r := b.sh(mounts("rw"), "./wazero run "+flags+dirs).ended()
		if r.out != "copied 5 bytes\nend\n" {
			t.Errorf("%v", r)
		}
		b.holds("data/x", "WORDS")
	}
	must(t, os.Remove(b.base+"/data/x"))
	r := b.sh(mounts("ro"), "./wazero run -interpreter "+dirs+" && echo succeeded; true").ended()
	if strings.Contains(r.out, "copied") || strings.Contains(r.out, "succeeded") {
		t.Errorf("a directory that is read-only: %v", r)
	}
	b.absent("data/x")
}
