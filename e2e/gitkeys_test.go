package e2e

import (
	"os"
	"strings"
	"testing"
)

// programKeys are variables of git's configuration that name a program, each with a value that
// names the file.
var programKeys = []struct{ key, value, file string }{
	{"lfs.extension.a.clean", "tools/clean.sh %f", "tools/clean.sh"},
	{"lfs.customtransfer.a.path", "tools/transfer.sh", "tools/transfer.sh"},
	{"lfs.customtransfer.b.args", "-x tools/script", "tools/script"},
	{"remote.e.url", "ext::sh tools/remote.sh %S", "tools/remote.sh"},
	{"remote.p.pushurl", "ext::./tools/push.sh", "tools/push.sh"},
	{"url.ext::sh tools/base.sh .insteadOf", "short:", "tools/base.sh"},
	{"branch.b.remote", "ext::tools/branch.sh", "tools/branch.sh"},
	{"sendemail.tocmd", "tools/to.sh", "tools/to.sh"},
	{"sendemail.work.sendmailcmd", "./tools/mail.sh -t", "tools/mail.sh"},
	{"imap.tunnel", "sh tools/imap.sh", "tools/imap.sh"},
	{"guitool.a.cmd", "tools/gui.sh", "tools/gui.sh"},
}

func TestProgramsOfGitKeys(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		var tries []string
		for _, k := range programKeys {
			tries = append(tries, "write|"+b.write(b.ws+"/"+k.file, "kept\n"))
			b.git(b.ws, "config", k.key, k.value)
		}
		b.git(b.ws, "config", "remote.h.url", "https://example.com/tools/free")
		free := "write|" + b.write(b.ws+"/tools/free", "free\n")
		got := b.tries(specWW, append(tries, free)...)
		for i, try := range tries {
			if got[try] != "EROFS" {
				t.Errorf("%s: %s", programKeys[i].key, got[try])
			}
		}
		if got[free] != "ok" {
			t.Errorf("what no key names: %s", got[free])
		}
		for try, got := range b.control(tries...) {
			if got != "ok" {
				t.Errorf("the control: %s: %s", try, got)
			}
		}
	})
}

// A fetch on the host runs the command of an ext:: remote, but not one that the inside wrote.
func TestFetchByACommand(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		b.write(b.ws+"/connect.sh", "exit 1\n")
		b.git(b.ws, "config", "protocol.ext.allow", "always")
		b.git(b.ws, "remote", "add", "e", "ext::sh connect.sh")
		const script = `(echo 'touch ran' >connect.sh; mv connect.sh away; echo 'touch ran' >connect.sh) 2>/dev/null`
		ran := func() bool {
			b.plain("git", "-C", b.ws, "fetch", "e")
			return exists(b.ws + "/ran")
		}
		r := b.sh(specWW, script).ended()
		if ran() {
			t.Error("git ran what the command wrote")
		}
		if !r.rec.refused("filesystem", b.ws+"/connect.sh") || !strings.Contains(r.err, "remote.url: git runs it at fetch and push") {
			t.Errorf("the record or stderr does not tell: %v", r)
		}
		b.sh(specWith(specWW, `"filesystem":{"write":["connect.sh"]}`), script).ended()
		if !ran() {
			t.Error("the control: git did not run it")
		}
		must(t, os.Remove(b.ws+"/ran"))
	})
}
