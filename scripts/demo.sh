#!/bin/bash
# A real job under a workspace-write spec, three attempts that are refused (each
# with its control: the same attempt outside succeeds), and the record. Needs
# Go and git; ends with non-zero where anything is not as it should be.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n== %s\n' "$*"; }
die() {
	echo "demo: $*" >&2
	exit 1
}

command -v go >/dev/null || die "needs Go"
command -v git >/dev/null || die "needs git"
scripts/build.sh bin
sbx=$top/bin/sbx

# Not beneath /tmp: a private /tmp would hide the secret for another reason
# than the one to be shown.
cache=${XDG_CACHE_HOME:-$HOME/.cache}
mkdir -p "$cache"
work=$(mktemp -d "$cache/sbx-demo.XXXXXX")
listener=
cleanup() {
	[ -z "$listener" ] || kill "$listener" 2>/dev/null || true
	chmod -R u+w "$work" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT

export GOCACHE; GOCACHE=$(go env GOCACHE)

# A home with a secret, and a small repository with a program to build.
export HOME=$work/home XDG_STATE_HOME=$work/state GIT_CONFIG_NOSYSTEM=1
unset SBX_EFFECTIVE GIT_DIR GIT_WORK_TREE
mkdir -p "$HOME/.ssh" "$XDG_STATE_HOME" "$work/project"
echo 'a secret key (of the demo)' >"$HOME/.ssh/id_ed25519"
git config --global user.name demo
git config --global user.email demo@localhost
git config --global init.defaultBranch main
cd "$work/project"
git init -q
if command -v gcc >/dev/null; then
	printf '#include <stdio.h>\nint main(void) { puts("hello from the build"); return 0; }\n' >hello.c
	build='gcc -O2 -o hello hello.c'
	printf 'hello\ndial\n' >.gitignore
else
	printf '#!/bin/sh\necho hello from the build\n' >hello.in
	build='cp hello.in hello && chmod +x hello'
	printf 'hello\ndial\n' >.gitignore
fi
git add -A
git commit -qm 'the project'

cat >"$work/spec.json" <<-EOF
	{
	  "working_dir": "$work/project",
	  "access_mode": "workspace-write",
	  "network": { "mode": "none" }
	}
EOF
say "the spec"
cat "$work/spec.json"

say "a real job inside: build, run, commit"
job="set -e; $build; ./hello; date >>NOTES; git add -A; git commit -qm 'work done inside'; git log --oneline"
echo "\$ sbx exec --spec spec.json -- sh -c '$job'"
"$sbx" exec --spec "$work/spec.json" -- sh -c "$job" || die "the job failed inside with status $?"
[ "$(git -C "$work/project" log --oneline | wc -l)" = 2 ] || die "the commit made inside is not there outside"

# refused WHAT SCRIPT UNDO: SCRIPT succeeds outside and not inside. The inside
# prints a last word of its own, so that a sandbox that never ran is no refusal.
refused() {
	local what=$1 script=$2 undo=${3:-true} out status
	say "refused: $what"
	echo "\$ $script"
	sh -c "$script" >"$work/out" 2>&1 || { cat "$work/out"; die "the control failed: outside, it should succeed"; }
	echo "outside: done"
	sh -c "$undo"
	status=0
	out=$("$sbx" exec --spec "$work/spec.json" -- sh -c "($script) && echo SUCCEEDED; echo came to the end" 2>&1) || status=$?
	echo "${out//came to the end/}" | sed '/^$/d; s/^/inside:  /'
	[ "$status" = 0 ] || die "the sandbox ended with $status"
	case $out in
	*'came to the end'*) ;;
	*) die "the inside did not come to its end" ;;
	esac
	case $out in
	*SUCCEEDED*) die "it should have been refused" ;;
	esac
	echo "inside:  refused"
}

hook=.git/hooks/post-commit
refused "a git hook, which the host would run later" "echo 'touch /tmp/owned' >$hook" "rm -f $hook"
[ ! -e "$work/project/$hook" ] || die "the hook is there"
refused "a secret of the home directory" "cat $HOME/.ssh/id_ed25519"

# The network: a listener of this machine's own, so that the control needs none.
cat >"$work/listen.go" <<-'EOF'
	package main

	import (
		"fmt"
		"net"
		"os"
	)

	func main() {
		if len(os.Args) == 2 {
			c, err := net.Dial("tcp", os.Args[1])
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			b := make([]byte, 32)
			n, _ := c.Read(b)
			fmt.Print(string(b[:n]))
			return
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		fmt.Println(l.Addr())
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(c, "hello from the network")
			c.Close()
		}
	}
EOF
(cd "$work" && GO111MODULE=off CGO_ENABLED=0 go build -o "$work/project/dial" listen.go)
./dial >"$work/address" &
listener=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
	[ ! -s "$work/address" ] || break
	sleep 0.2
done
refused "the network" "./dial $(cat "$work/address")"

say "what the record says of the last run"
"$sbx" show last || die "sbx show last failed"

say "everything that should run ran; everything that should be refused was"
