#!/bin/sh
# Builds sbx and the benchmark and runs it: see bench/README.md.
set -eu
cd "$(dirname "$0")/.."
scripts/build.sh bin
work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
CGO_ENABLED=0 go build -o "$work/bench" ./bench
"$work/bench" -sbx bin/sbx "$@"
