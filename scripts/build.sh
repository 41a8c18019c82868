#!/bin/sh
# build.sh DIR: builds every program under cmd/ into DIR, static and reproducible.
# GOOS and GOARCH are taken from the environment, as go takes them.
set -eu
cd "$(dirname "$0")/.."
out=${1:-bin}
mkdir -p "$out"

version=$(git describe --tags --always --dirty 2>/dev/null || true)
[ -n "$version" ] || version=unknown

for dir in cmd/*/; do
	name=$(basename "$dir")
	flags="-s -w -X main.version=$version"
	# sbx begins at an entry point of its own, which notes the caller's signal
	# dispositions, signal mask and RLIMIT_NOFILE before the Go runtime, which
	# changes all three, has run; sbx-oci at one that does without Go what it can.
	[ "$name" != sbx ] || flags="$flags -E sbx_entry"
	[ "$name" != sbx-oci ] || flags="$flags -E sbx_oci_entry"
	CGO_ENABLED=0 go build -trimpath -tags urfave_cli_no_docs -ldflags "$flags" -o "$out/$name" "./$dir"
done
