package e2e

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// getJava is a program that uses Java's own client.
const getJava = `public class Get {
	public static void main(String[] a) throws Exception {
		java.net.URLConnection c = new java.net.URL(a[0]).openConnection();
		c.setConnectTimeout(20000);
		System.out.write(c.getInputStream().readAllBytes());
		System.out.flush();
	}
}
`

// getDeb downloads a package of an archive, by apt with settings and directories of its own. Root's
// apt would switch to another user, which does not exist inside.
const getDeb = `echo "deb [trusted=yes] http://good.example/archive ./" >sources.list && mkdir apt && cat >apt.conf <<END
Dir::Etc { Main "/dev/null"; Parts "/dev/null"; SourceList "$PWD/sources.list"; SourceParts "/dev/null"; };
Dir::State "$PWD/apt";
Dir::Cache "$PWD/apt";
APT::Sandbox::User "root";
Acquire { Retries "0"; https::CAInfo "$PWD/ca.pem"; };
END
export APT_CONFIG=$PWD/apt.conf; apt-get -q update >&2 && apt-get -q download tiny >&2 && cat tiny_1.0_all.deb`

// Common programs reach the hosts that a rule allows and fail without it, without knowing of a
// proxy or of a sandbox. Without sbx they reach them, too.
func TestNetworkPrograms(t *testing.T) {
	const page = " at 8.8.8.1:"
	for name, c := range map[string]struct {
		needs  string
		run    string // a line of sh, each time in a workspace of its own
		target string // allowed by the rule, and reported by a violation without it
		want   string // printed without sbx, and with the rule
	}{
		"curl":           {"curl", "curl -sS http://good.example/", "good.example:80", "good.example" + page},
		"curl https":     {"curl", "curl -sS --cacert ca.pem https://good.example/", "good.example:443", "good.example" + page},
		"python":         {"python3", `python3 -c 'import urllib.request as u; print(u.urlopen("http://good.example/").read())'`, "good.example:80", "good.example" + page},
		"python https":   {"python3", `python3 -c 'import ssl, urllib.request as u; print(u.urlopen("https://good.example/", context=ssl.create_default_context(cafile="ca.pem")).read())'`, "good.example:443", "good.example" + page},
		"go's resolver":  {"", "../probe.bin get good.example:80", "good.example:80", "good.example" + page}, // built without cgo
		"node":           {"node", `node -e 'require("http").get("http://good.example/", r => r.pipe(process.stdout))'`, "good.example:80", "good.example" + page},
		"java":           {"java", "java -XX:TieredStopAtLevel=1 Get.java http://good.example/", "good.example:80", "good.example" + page},
		"git":            {"git", "it=$(mktemp -d) && git clone -q http://good.example/repo.git $it && cat $it/file && rm -rf $it", "good.example:80", "of the repository"},
		"git over ssh":   {"ssh /usr/sbin/sshd", `it=$(mktemp -d) && GIT_SSH_COMMAND="ssh -F none -i $OLDPWD/key -o BatchMode=yes -o UserKnownHostsFile=$OLDPWD/known" git clone -q ssh://good.example:2222$OLDPWD/../site/repo.git $it && cat $it/file && rm -rf $it`, "good.example:2222", "of the repository"},
		"go mod":         {"go", "GOPROXY=http://good.example GOSUMDB=off GOTOOLCHAIN=local GOFLAGS=-mod=mod GOPATH=$PWD/go GOCACHE=$PWD/cache go mod download -modcacherw tiny.example/m && cat go/pkg/mod/tiny.example/m@v1.0.0/m.go", "good.example:80", "package m"},
		"npm":            {"npm", "npm install --registry http://good.example/ --cache ./cache --no-audit --no-fund --no-update-notifier --fetch-retries 0 tiny >&2 && cat node_modules/tiny/index.js", "good.example:80", "of the package"},
		"cargo":          {"/usr/bin/cargo gcc", "it=$(mktemp -d) && PATH=/usr/bin:/bin CARGO_HOME=$it CARGO_REGISTRIES_TINY_INDEX=https://good.example/index.git CARGO_HTTP_CAINFO=$PWD/ca.pem cargo run -q && rm -rf $it", "good.example:443", "of the crate"}, // rustup's has no toolchain in a home of the test's
		"apt":            {"apt-get", getDeb, "good.example:80", "of the archive"},
		"apt https":      {"apt-get", strings.ReplaceAll(getDeb, "http:", "https:"), "good.example:443", "of the archive"},
		"npm, localhost": {"npm", "npm install --registry http://localhost/ --cache ./cache --no-audit --no-fund --no-update-notifier --fetch-retries 0 tiny >&2 && cat node_modules/tiny/index.js", "localhost:80", "of the package"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); err != nil && c.needs == "java" {
				t.Skip("java is not installed") // and too large to install, for one case
			}
			needPrograms(t, strings.Fields(c.needs)...)
			b := newWorld(t)
			b.site()
			b.probe()
			if strings.Contains(c.needs, "sshd") {
				b.shell()
			}
			b.write("ws/Get.java", getJava)
			b.write("ws/src/main.rs", "fn main() { println!(\"{}\", tiny::TEXT) }\n")
			b.write("ws/Cargo.toml", "[package]\nname = \"x\"\nversion = \"1.0.0\"\n\n[dependencies]\ntiny = { version = \"1\", registry = \"tiny\" }\n")
			b.write("ws/go.mod", "module x\n\ngo 1.21\n\nrequire tiny.example/m v1.0.0\n")
			sh := func(dir string) []string {
				return []string{"/bin/sh", "-c", "! env | grep -i '_proxy=' && mkdir " + dir + " && cp -r ca.pem Get.java go.mod Cargo.toml src " + dir + " && cd " + dir + "\n" + c.run}
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
			if r.code != 0 || !strings.Contains(r.out, c.want) || r.rec.refused("network", host) || r.rec.refused("network", c.target) { // git looks up its own host's name
				t.Errorf("with a rule: %v\n%v", r, r.rec["violations"])
			}
			r.rec.hasStatus(t, "network", "enforced")
		})
	}
}

// site makes the files of the world's web servers: a repository of git's, a module of Go's, a
// package of npm's, a registry of cargo's and an archive of apt's.
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

	b.write("site/tiny.tgz", tarball(b.t, map[string]string{"package/package.json": `{"name": "tiny", "version": "1.0.0"}`, "package/index.js": "// of the package\n"}))
	// npm replaces any URL of the public registry by one of the registry that it was told to use.
	b.write("site/tiny", `{"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0":
		{"name": "tiny", "version": "1.0.0", "dist": {"tarball": "https://registry.npmjs.org/tiny.tgz"}}}}`)

	crate := tarball(b.t, map[string]string{"tiny-1.0.0/Cargo.toml": "[package]\nname = \"tiny\"\nversion = \"1.0.0\"\n", "tiny-1.0.0/src/lib.rs": "pub const TEXT: &str = \"of the crate\";\n"})
	b.write("site/crates/tiny/1.0.0/download", crate)
	b.served("index.git", map[string]string{"config.json": `{"dl": "https://good.example/crates"}`,
		"ti/ny/tiny": fmt.Sprintf(`{"name": "tiny", "vers": "1.0.0", "deps": [], "cksum": "%x", "features": {}, "yanked": false}`, sha256.Sum256([]byte(crate)))})

	const deb = "of the archive\n"
	b.write("site/archive/tiny.deb", deb)
	list := fmt.Sprintf("Package: tiny\nVersion: 1.0\nArchitecture: all\nMaintainer: T <t@example.com>\nFilename: ./tiny.deb\nSize: %d\nSHA256: %x\nDescription: tiny\n\n", len(deb), sha256.Sum256([]byte(deb)))
	b.write("site/archive/Packages", list)
	b.write("site/archive/Release", fmt.Sprintf("Date: Sun, 01 Jan 2023 00:00:00 UTC\nSHA256:\n %x %d Packages\n", sha256.Sum256([]byte(list)), len(list)))

	b.served("repo.git", map[string]string{"file": "of the repository\n"})
}

// served makes a repository of git's that the world serves.
func (b *box) served(name string, files map[string]string) {
	b.t.Helper()
	repo := filepath.Join(b.base, "of-"+name)
	for file, text := range files {
		b.write(filepath.Join(repo, file), text)
	}
	for _, argv := range [][]string{{"init", "-q", repo}, {"-C", repo, "add", "."}, {"-C", repo, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "one"},
		{"clone", "-q", "--bare", repo, b.base + "/site/" + name}} {
		cmd := exec.Command("git", argv...)
		cmd.Env = append(os.Environ(), "HOME="+b.home, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.t.Fatalf("git %q: %v\n%s", argv, err, out)
		}
	}
}

// tarball packs files.
func tarball(t *testing.T, files map[string]string) string {
	t.Helper()
	var packed bytes.Buffer
	g := gzip.NewWriter(&packed)
	w := tar.NewWriter(g)
	for name, text := range files {
		must(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		must(t, err)
	}
	must(t, w.Close())
	must(t, g.Close())
	return packed.String()
}

// shell makes the files of the world's sshd and its client: keys, and the directory's names for
// them.
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
