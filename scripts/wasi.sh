#!/bin/bash
# wasi.sh DIR: builds into DIR what the tests of WASI runners run inside a
# sandbox: wazero, at the version that scripts/tools/go.mod pins, and job.wasm of
# testdata/wasi. Where it cannot: one line on stderr, and 3.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?usage: wasi.sh DIR}
mkdir -p "$out"
out=$(cd "$out" && pwd)

why() { # the line of go's words that says most
	echo "wasi: SKIPPED: cannot build $1: $(grep -v '^go: downloading\|^#' "$out/log" | head -1)" >&2
	rm -f "$out/log"
	exit 3
}
# The runner is for this machine whatever the caller builds for.
(cd scripts/tools && GOOS='' GOARCH='' GOFLAGS='' CGO_ENABLED=0 timeout 300 \
	go build -trimpath -o "$out/wazero" github.com/tetratelabs/wazero/cmd/wazero </dev/null) >"$out/log" 2>&1 || why wazero
GOOS=wasip1 GOARCH=wasm timeout 300 go build -trimpath -ldflags '-s -w' -o "$out/job.wasm" ./testdata/wasi </dev/null >"$out/log" 2>&1 || why job.wasm
rm -f "$out/log"
