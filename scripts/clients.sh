#!/bin/bash
# Installs the coding agents that the tests run in the sandbox, at the versions
# of testdata/clients/package-lock.json, and prints where. About 0.9 GB, once
# for each lock file:
#
#   $SBX_TEST_CLIENTS, if it is set ("none": they are not installed); else
#   /var/cache/sbx-clients/LOCK for root, whom the ordinary user's tests follow; else
#   ${XDG_CACHE_HOME:-~/.cache}/sbx-clients/LOCK.
#
# --where installs nothing: it prints the directory, or ends with 1 where there is
# none. Where they cannot be installed it says why and ends with 3; with CI=true,
# or SBX_TEST_MUST_RUN=1, with 1.
set -euo pipefail
cd "$(dirname "$0")/.."
lock=testdata/clients/package-lock.json

give_up() {
	echo "clients: SKIPPED: $1: the tests of real agents cannot run" >&2
	[ "${CI:-}" != true ] && [ "${SBX_TEST_MUST_RUN:-}" != 1 ] || exit 1
	exit 3
}

# The number is this script's: another layout is another directory.
id=$(sha256sum "$lock" | cut -c1-16)-1
if [ "${SBX_TEST_CLIENTS:-}" = none ]; then
	[ "${1:-}" != --where ] || exit 1
	give_up "SBX_TEST_CLIENTS=none"
elif [ -n "${SBX_TEST_CLIENTS:-}" ]; then
	to=$SBX_TEST_CLIENTS
elif [ "$(id -u)" -eq 0 ]; then
	to=/var/cache/sbx-clients/$id
else
	to=${XDG_CACHE_HOME:-$HOME/.cache}/sbx-clients/$id
fi
if [ -e "$to/complete" ]; then
	echo "$to"
	exit 0
fi
[ "${1:-}" != --where ] || exit 1

for program in node npm; do
	command -v "$program" >/dev/null 2>&1 || give_up "no $program"
done
case $(uname -m) in
x86_64) arch=x64 triple=x86_64 ;;
aarch64) arch=arm64 triple=aarch64 ;;
*) give_up "the agents have no programs for $(uname -m)" ;;
esac
musl=''
case $(ldd --version 2>&1 || true) in *musl*) musl=-musl ;; esac

umask 022
mkdir -p "$(dirname "$to")"
work=$(mktemp -d "$to.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 755 "$work"
cp testdata/clients/package.json "$lock" "$work/"
echo "clients: npm ci into $to" >&2
# No install script runs: what they would do is link a program, which is done
# below. npm's own waiting for an unreachable registry takes many minutes.
(cd "$work" && timeout 900 npm ci --ignore-scripts --no-audit --no-fund --loglevel error \
	--fetch-retries 2 --fetch-retry-maxtimeout 10000 --fetch-timeout 120000 </dev/null >&2) ||
	give_up "npm ci failed"

mkdir "$work/bin" "$work/launchers"
link() { # link FOLDER/NAME PACKAGE-FILE
	[ -e "$work/node_modules/$2" ] || give_up "$2 is missing in what npm installed"
	ln -s "../node_modules/$2" "$work/$1"
}
link bin/claude "@anthropic-ai/claude-code-linux-$arch$musl/claude"
link bin/codex "@openai/codex-linux-$arch/vendor/$triple-unknown-linux-musl/bin/codex"
link bin/gemini "@google/gemini-cli/bundle/gemini.js"
# What npm puts on the PATH for codex: a script of node that starts the program.
link launchers/codex "@openai/codex/bin/codex.js"
mkdir "$work/home"
for name in claude codex gemini; do
	version=$(HOME=$work/home timeout 60 "$work/bin/$name" --version </dev/null 2>/dev/null | head -1) ||
		give_up "$name does not start (node $(node --version))"
	echo "clients: $name $version" >&2
done
rm -rf "${work:?}/home"
: >"$work/complete"
chmod -R a+rX "$work"
# Another run may have been faster.
mv -T "$work" "$to" 2>/dev/null || [ -e "$to/complete" ] || give_up "cannot write $to"
echo "$to"
