#!/bin/sh
# The syntax of what is JavaScript, and golangci-lint with .golangci.yml, at the
# version that scripts/tools/go.mod pins, built into .cache on first use.
set -eu
cd "$(dirname "$0")/.."
if command -v node >/dev/null 2>&1; then
	for file in sdk/typescript/*.js sdk/typescript/*/*.js scripts/*.mjs; do
		node --check "$file"
	done
fi
mkdir -p .cache
tool=$PWD/.cache/golangci-lint
# By -trimpath, as all that is built here, the standard library is compiled once.
export GOFLAGS="${GOFLAGS:-} -trimpath"
(cd scripts/tools && go build -o "$tool" github.com/golangci/golangci-lint/v2/cmd/golangci-lint)
exec "$tool" run --build-tags urfave_cli_no_docs "$@" ./...
