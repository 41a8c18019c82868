#!/bin/bash
# Everything a change must pass. CHECK_SKIP_TESTS=1 leaves the test run out.
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

echo "check: vet"
go vet -tags "$tags" ./...
GOARCH=arm64 go vet -tags "$tags" ./...

echo "check: linters"
scripts/lint.sh

echo "check: layering"
go test -count=1 ./internal/layering

echo "check: generated files"
scripts/generated.sh

if [ "${CHECK_SKIP_TESTS:-}" != 1 ]; then
	echo "check: tests"
	scripts/test.sh
fi
