#!/bin/bash
# Installs TypeScript's compiler, by which the tests check the types of
# sdk/typescript, and node's types, at the versions of
# testdata/typescript/package-lock.json, and prints the directory of its modules. They
# go beside the agents of scripts/clients.sh, once for each lock file. Where they
# cannot be installed it says why and ends with 3; with CI=true, or
# SBX_TEST_MUST_RUN=1, with 1.
set -euo pipefail
cd "$(dirname "$0")/.."
lock=testdata/typescript/package-lock.json

give_up() {
	echo "typescript: SKIPPED: $1: the package's types are not checked" >&2
	[ "${CI:-}" != true ] && [ "${SBX_TEST_MUST_RUN:-}" != 1 ] || exit 1
	exit 3
}

# What root has installed serves the ordinary user as well.
id=sbx-typescript/$(sha256sum "$lock" | cut -c1-16)
tsc=node_modules/typescript/lib/tsc.js
to=/var/cache/$id
[ "$(id -u)" -eq 0 ] || [ -e "$to/$tsc" ] || to=${XDG_CACHE_HOME:-$HOME/.cache}/$id
if [ ! -e "$to/$tsc" ]; then
	for program in node npm; do
		command -v "$program" >/dev/null 2>&1 || give_up "no $program"
	done
	umask 022
	mkdir -p "${to%/*}"
	work=$(mktemp -d "$to.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	chmod 755 "$work"
	cp testdata/typescript/package.json "$lock" "$work/"
	(cd "$work" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund --loglevel error \
		--fetch-retries 2 --fetch-retry-maxtimeout 10000 --fetch-timeout 60000 </dev/null >&2) ||
		give_up "npm ci failed"
	# Another run may have been faster.
	mv -T "$work" "$to" 2>/dev/null || [ -e "$to/$tsc" ] || give_up "cannot write $to"
fi
echo "$to/node_modules"
