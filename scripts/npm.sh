#!/bin/bash
# npm.sh OUT [ARCH=DIR]…: packs the npm packages into OUT: sdk/typescript, and the
# program for each platform in one of its own, which the first names as an optional
# dependency, so that npm installs the one that fits. DIR has the binaries for ARCH, as
# node names it (x64, arm64); without any both are built.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-dist/npm}")
[ $# -eq 0 ] || shift
work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-npm.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
umask 022
if [ $# -eq 0 ]; then
	GOOS=linux GOARCH=amd64 scripts/build.sh "$work/amd64"
	GOOS=linux GOARCH=arm64 scripts/build.sh "$work/arm64"
	set -- "x64=$work/amd64" "arm64=$work/arm64"
fi
mkdir -p "$out"
pack() { # pack DIR
	(cd "$1" && npm pack --silent --ignore-scripts --offline --pack-destination "$out" </dev/null)
}
version=$(node -p 'require("./sdk/typescript/package.json").version')

for of in "$@"; do
	arch=${of%%=*}
	dir=$work/linux-$arch
	mkdir -p "$dir/bin"
	install -m 755 "${of#*=}/sbx" "${of#*=}/sbx-egress" "${of#*=}/sbx-broker" "$dir/bin/"
	cp LICENSE "$dir/"
	cat >"$dir/package.json" <<-JSON
		{
		  "name": "@sbx/linux-$arch",
		  "version": "$version",
		  "description": "The program sbx for Linux on $arch, which @sbx/process-sandbox runs",
		  "license": "Apache-2.0",
		  "os": ["linux"],
		  "cpu": ["$arch"],
		  "files": ["bin"],
		  "preferUnplugged": true
		}
	JSON
	pack "$dir"
done

# The sources name no optional dependencies: npm would look for them in its registry.
cp -r sdk/typescript "$work/sdk"
node -e '
	const [file, version] = process.argv.slice(1);
	const fs = require("node:fs");
	const manifest = JSON.parse(fs.readFileSync(file, "utf8"));
	manifest.optionalDependencies = { "@sbx/linux-x64": version, "@sbx/linux-arm64": version };
	fs.writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
' "$work/sdk/package.json" "$version"
pack "$work/sdk"
