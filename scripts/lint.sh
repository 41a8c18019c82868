#!/bin/sh
# golangci-lint with .golangci.yml, at the version that scripts/tools/go.mod
# pins, built into .cache on first use.
set -eu
cd "$(dirname "$0")/.."
mkdir -p .cache
tool=$PWD/.cache/golangci-lint
(cd scripts/tools && go build -o "$tool" github.com/golangci/golangci-lint/v2/cmd/golangci-lint)
exec "$tool" run --build-tags urfave_cli_no_docs "$@" ./...
