#!/bin/bash
# release.sh DIR: static programs for amd64 and arm64 as tar.gz, deb and rpm, with
# the manual, completions and licenses; what is inside them as CycloneDX; and the
# checksums of all. The same commit and the same Go give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-dist}
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
described=$(git describe --tags --always --dirty 2>/dev/null || echo unknown)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH
# A package's version begins with a digit and has no hyphen: v1.2.3-4-gabc, four
# commits after v1.2.3, is 1.2.3+4.gabc. Before the first tag there is only the commit.
case $described in
v[0-9]*) VERSION=${described#v} VERSION=${VERSION/-/+} VERSION=${VERSION//-/.} ;;
*) VERSION=0.0.0~$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d).${described//-/.} ;;
esac
export VERSION

work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-release.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p .cache
nfpm=$PWD/.cache/nfpm
config=$PWD/packaging/nfpm.yaml
(cd scripts/tools/nfpm && GOOS='' GOARCH='' go build -o "$nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm)
# The manual is the program's own: printed by one that runs here.
GOOS='' GOARCH='' scripts/build.sh "$work/bin"
scripts/manual.sh "$work/bin/sbx" "$work"
sed 's|/usr/local/bin/sbx|/usr/bin/sbx|' cmd/sbx/apparmor.profile >"$work/apparmor.profile"
cp packaging/*.sh "$work/"
mkdir "$work/man.gz"
for page in "$work"/man/*; do
	gzip -n9 <"$page" >"$work/man.gz/$(basename "$page").gz"
done
touch -d "@$SOURCE_DATE_EPOCH" "$work/apparmor.profile" "$work"/man.gz/*

third_party() { # third_party PROGRAM…: the licenses of the modules inside them, and of Go
	echo "sbx has these in it: Go's library, and the modules that follow, under their licenses."
	printf '\n== Go\n\n'
	cat "$(go env GOROOT)/LICENSE"
	go version -m "$@" | awk '$1 == "dep" { print $2, $3 }' | sort -u | while read -r module version; do
		dir=$(go list -m -f '{{.Dir}}' "$module")
		set -- "$dir"/LICENSE* "$dir"/COPYING* "$dir"/NOTICE*
		printf '\n== %s %s\n' "$module" "$version"
		found=''
		for file in "$@"; do
			[ -f "$file" ] || continue
			found=yes
			echo
			cat "$file"
		done
		[ -n "$found" ] || {
			echo "release: no license in $module" >&2
			return 1
		}
	done
}

programs=()
for ARCH in amd64 arm64; do
	export ARCH
	name=sbx-$VERSION-linux-$ARCH
	dir=$work/$name
	GOOS=linux GOARCH=$ARCH scripts/build.sh "$dir"
	third_party "$dir"/* >"$work/THIRD-PARTY.txt"
	programs+=("$dir"/*)
	cp -r LICENSE README.md scripts/dispatch.sh "$work/THIRD-PARTY.txt" "$work/man" "$work/completions" "$dir/"
	chmod -R u=rwX,go=rX "$dir"
	find "$dir" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -n9 >"$out/$name.tar.gz"
	for packager in deb rpm; do
		(cd "$dir" && "$nfpm" package --config "$config" --packager $packager --target "$out/")
	done
done
go run ./scripts/sbom -version "$VERSION" -time "$SOURCE_DATE_EPOCH" "${programs[@]}" >"$out/sbx-$VERSION.cdx.json"
(cd "$out" && sha256sum -- sbx* >SHA256SUMS && cat SHA256SUMS)
