package e2e

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// getJava is a program of Java's own client.
const getJava = `public class Get {
	public static void main(String[] a) throws Exception {
		java.net.URLConnection c = new java.net.URL(a[0]).openConnection();
		c.setConnectTimeout(20000);
		System.out.write(c.getInputStream().readAllBytes());
		System.out.flush();
	}
}
`

// Programs that people use reach what a rule has and fail without it, told of no proxy and
// of no sandbox. Without sbx they reach it too.
func TestNetworkPrograms(t *testing.T) {
	const page = " at 8.8.8.1:"
	for name, c := range map[string]struct {
		needs  string
		run    string // a line of sh, each time in a workspace of its own
		target string // which a rule has, and of which a violation tells without it
		want   string // is printed, alone and with the rule
	}{
		"curl":           {"curl", "curl -sS http://good.example/", "good.example:80", "good.example" + page},
		"curl https":     {"curl", "curl -sS --cacert ca.pem https://good.example/", "good.example:443", "good.example" + page},
		"python":         {"python3", `python3 -c 'import urllib.request as u; print(u.urlopen("http://good.example/").read())'`, "good.example:80", "good.example" + page},
		"python https":   {"python3", `python3 -c 'import ssl, urllib.request as u; print(u.urlopen("https://good.example/", context=ssl.create_default_context(cafile="ca.pem")).read())'`, "good.example:443", "good.example" + page},
		"node":           {"node", `node -e 'require("http").get("http://good.example/", r => r.pipe(process.stdout))'`, "good.example:80", "good.example" + page},
		"java":           {"java", "java -XX:TieredStopAtLevel=1 Get.java http://good.example/", "good.example:80", "good.example" + page},
		"git":            {"git", "it=$(mktemp -d) && git clone -q http://good.example/repo.git $it && cat $it/file && rm -rf $it", "good.example:80", "of the repository"},
		"git over ssh":   {"ssh /usr/sbin/sshd", `it=$(mktemp -d) && GIT_SSH_COMMAND="ssh -F none -i $OLDPWD/key -o BatchMode=yes -o UserKnownHostsFile=$OLDPWD/known" git clone -q ssh://good.example:2222$OLDPWD/../site/repo.git $it && cat $it/file && rm -rf $it`, "good.example:2222", "of the repository"},
		"go mod":         {"go", "GOPROXY=http://good.example GOSUMDB=off GOTOOLCHAIN=local GOFLAGS=-mod=mod GOPATH=$PWD/go GOCACHE=$PWD/cache go mod download -modcacherw tiny.example/m && cat go/pkg/mod/tiny.example/m@v1.0.0/m.go", "good.example:80", "package m"},
		"npm":            {"npm", "npm install --registry http://good.example/ --cache ./cache --no-audit --no-fund --no-update-notifier --fetch-retries 0 tiny >&2 && cat node_modules/tiny/index.js", "good.example:80", "of the package"},
		"npm, localhost": {"npm", "npm install --registry http://localhost/ --cache ./cache --no-audit --no-fund --no-update-notifier --fetch-retries 0 tiny >&2 && cat node_modules/tiny/index.js", "localhost:80", "of the package"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); err != nil && c.needs == "java" {
				t.Skip("java is not installed") // and too large to be, for one case
			}
			needPrograms(t, strings.Fields(c.needs)...)
			b := newWorld(t)
			b.site()
			if strings.Contains(c.needs, "sshd") {
				b.shell()
			}
			b.write("ws/Get.java", getJava)
			b.write("ws/go.mod", "module x\n\ngo 1.21\n\nrequire tiny.example/m v1.0.0\n")
			sh := func(folder string) []string {
				return []string{"/bin/sh", "-c", "! env | grep -i '_proxy=' && mkdir " + folder + " && cp ca.pem Get.java go.mod " + folder + " && cd " + folder + "\n" + c.run}
			}
			if r := b.bare(sh("alone")...); r.code != 0 || !strings.Contains(r.out, c.want) {
				t.Fatalf("without sbx: %v", r)
			}
			spec := `{"access_mode": "workspace-write", "network": {"allow": [%q, "other.example:1"]}}`
			host, _, _ := strings.Cut(c.target, ":")
			r := b.run(fmt.Sprintf(spec, "bad.example:80"), sh("denied")...)
			if r.code == 0 || strings.Contains(r.out, c.want) || host != "localhost" && !r.rec.refused("network", host) { // that is the sandbox's own
				t.Errorf("without a rule: %v", r)
			}
			r = b.run(fmt.Sprintf(spec, c.target), sh("allowed")...)
			if r.code != 0 || !strings.Contains(r.out, c.want) || r.rec.refused("network", host) || r.rec.refused("network", c.target) { // git asks for its own host's
				t.Errorf("with a rule: %v\n%v", r, r.rec["violations"])
			}
			r.rec.hasStatus(t, "network", "enforced")
		})
	}
}

// site makes what the world's web servers serve: a repository of git's, a module of Go's
// and a package of npm's.
func (b *box) site() {
	b.t.Helper()
	const module = "site/tiny.example/m/@v/v1.0.0."
	b.write(module+"info", `{"Version": "v1.0.0"}`)
	b.write(module+"mod", "module tiny.example/m\n")
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	for name, text := range map[string]string{"go.mod": "module tiny.example/m\n", "m.go": "package m\n"} {
		f, err := z.Create("tiny.example/m@v1.0.0/" + name)
		must(b.t, err)
		_, err = f.Write([]byte(text))
		must(b.t, err)
	}
	must(b.t, z.Close())
	b.write(module+"zip", zipped.String())

	var packed bytes.Buffer
	g := gzip.NewWriter(&packed)
	w := tar.NewWriter(g)
	for name, text := range map[string]string{"package.json": `{"name": "tiny", "version": "1.0.0"}`, "index.js": "// of the package\n"} {
		must(b.t, w.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		must(b.t, err)
	}
	must(b.t, w.Close())
	must(b.t, g.Close())
	b.write("site/tiny.tgz", packed.String())
	// npm asks the registry that it was told for what any URL of the public one names.
	b.write("site/tiny", `{"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0":
		{"name": "tiny", "version": "1.0.0", "dist": {"tarball": "https://registry.npmjs.org/tiny.tgz"}}}}`)

	repo := filepath.Join(b.base, "repo")
	b.write("repo/file", "of the repository\n")
	for _, argv := range [][]string{{"init", "-q", repo}, {"-C", repo, "add", "file"}, {"-C", repo, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "one"},
		{"clone", "-q", "--bare", repo, b.base + "/site/repo.git"}, {"-C", b.base + "/site/repo.git", "update-server-info"}} {
		cmd := exec.Command("git", argv...)
		cmd.Env = append(os.Environ(), "HOME="+b.home, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.t.Fatalf("git %q: %v\n%s", argv, err, out)
		}
	}
}

// shell makes what the world's sshd and its client have: keys, and the folder's names of them.
func (b *box) shell() {
	b.t.Helper()
	b.write("ssh/config", fmt.Sprintf("HostKey %s/ssh/host\nAuthorizedKeysFile %s/ws/key.pub\nStrictModes no\nPasswordAuthentication no\n", b.base, b.base))
	for _, key := range []string{"ssh/host", "ws/key"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(b.base, key)).CombinedOutput()
		if err != nil {
			b.t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	host, err := os.ReadFile(b.base + "/ssh/host.pub")
	must(b.t, err)
	b.write("ws/known", "[good.example]:2222 "+string(host))
}
