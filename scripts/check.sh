#!/bin/bash
# Everything a change must pass. CHECK_SKIP_TESTS=1 leaves the test run out, and with it
# vet for this machine and the layering.
set -euo pipefail
cd "$(dirname "$0")/.."
tags=urfave_cli_no_docs

echo "check: format"
unformatted=$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 -r ls 2>/dev/null | xargs -r gofmt -l)
if [ -n "$unformatted" ]; then
	echo "not formatted (gofmt -w):" >&2
	echo "$unformatted" >&2
	exit 1
fi

echo "check: vet for arm64" # scripts/test.sh and the linters vet for this machine
GOARCH=arm64 go vet -trimpath -tags "$tags" ./...

echo "check: linters"
scripts/lint.sh

echo "check: generated files"
scripts/generated.sh

if [ "${CHECK_SKIP_TESTS:-}" != 1 ]; then
	echo "check: tests"
	scripts/test.sh
fi
