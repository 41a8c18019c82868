#!/bin/bash
# Generates the generated files anew, in a copy, and fails where one differs.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! grep -rqs --include='*.go' '^//go:generate ' .; then
	echo "nothing is generated"
	exit 0
fi
if grep -rqs --include='*.go' 'libseccomp-golang' . && { [ ! -e /usr/include/seccomp.h ] || ! command -v gcc >/dev/null; }; then
	if [ "${SBX_TEST_MUST_RUN:-}" = 1 ]; then
		echo "go generate needs gcc and the headers of libseccomp" >&2
		exit 1
	fi
	echo "skipped: go generate needs gcc and the headers of libseccomp"
	exit 0
fi
if ! command -v node >/dev/null; then
	if [ "${SBX_TEST_MUST_RUN:-}" = 1 ]; then
		echo "go generate needs node" >&2
		exit 1
	fi
	echo "skipped: go generate needs node"
	exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-generate.XXXXXX")
trap 'rm -rf "$work"' EXIT
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do
	[ ! -e "$f" ] && [ ! -L "$f" ] || printf '%s\0' "$f"
done | tar --null -T - -cf - | tar -C "$work" -xf -
cd "$work"
git init -q .
git add -A
git -c user.name=check -c user.email=check@localhost -c commit.gpgsign=false commit -qm before
GOFLAGS="${GOFLAGS:-} -trimpath" go generate ./... # the copy is found in the build cache
if [ -n "$(git status --porcelain)" ]; then
	echo "generated files differ; run make generate" >&2
	git status --porcelain >&2
	git --no-pager diff --stat >&2
	exit 1
fi
