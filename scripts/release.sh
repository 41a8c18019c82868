#!/bin/bash
# release.sh DIR: static binaries for amd64 and arm64, packed with the manual,
# and their checksums. The same sources and the same Go give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-dist}
rm -rf "$out"
mkdir -p "$out"
version=$(git describe --tags --always --dirty 2>/dev/null || echo unknown)
stamp=$(git log -1 --format=%ct 2>/dev/null || echo 0)
# The manual is the program's own: printed by one that runs here.
work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-release.XXXXXX")
trap 'rm -rf "$work"' EXIT
GOOS='' GOARCH='' scripts/build.sh "$work/bin"
scripts/manual.sh "$work/bin/sbx" "$work"

for arch in amd64 arm64; do
	name=sbx-$version-linux-$arch
	GOOS=linux GOARCH=$arch scripts/build.sh "$out/$name"
	cp -r LICENSE scripts/dispatch.sh "$work/man" "$work/completions" "$out/$name/"
	[ ! -e README.md ] || cp README.md "$out/$name/"
	tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$stamp" -cf - "$name" | gzip -n9 >"$out/$name.tar.gz"
	rm -rf "${out:?}/$name"
done
(cd "$out" && sha256sum -- *.tar.gz >SHA256SUMS && cat SHA256SUMS)
