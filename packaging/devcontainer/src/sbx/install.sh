#!/bin/sh
# Installs a released sbx, as a devcontainer feature and for packaging/action: gets
# $URL/sbx-$VERSION-linux-ARCH.tar.gz, checks that its SHA-256 is one of $SHA256, and
# puts its programs into $BINDIR.
set -eu
fail() {
	echo "sbx: $1" >&2
	exit 1
}
[ -n "${URL:-}" ] || fail 'url: missing; give the directory of its files, as https://HOST/PATH'
[ -n "${VERSION:-}" ] || fail 'version: missing; give it as in the names of the files: 0.1.0'
[ -n "${SHA256:-}" ] || fail 'sha256: missing; give the digest of the tar.gz, from SHA256SUMS; one for each architecture, with spaces between'
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*) fail "there is no release for $(uname -m): amd64 and arm64 alone" ;;
esac
to=${BINDIR:-/usr/local/bin}
name=sbx-$VERSION-linux-$arch
work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-install.XXXXXX")
trap 'rm -rf "$work"' EXIT

if command -v curl >/dev/null 2>&1; then
	curl -fsSL --proto '=https,file' --proto-redir '=https' -o "$work/archive" "$URL/$name.tar.gz" || fail "cannot get $URL/$name.tar.gz"
elif command -v wget >/dev/null 2>&1; then
	wget -q -O "$work/archive" "$URL/$name.tar.gz" || fail "cannot get $URL/$name.tar.gz"
else
	fail 'curl or wget is needed to get the release'
fi
digest=$(sha256sum "$work/archive")
digest=${digest%% *}
case " $(echo "$SHA256" | tr ',\n' '  ') " in
*" $digest "*) ;;
*) fail "the SHA-256 of $name.tar.gz is $digest, which sha256 does not list: nothing is installed" ;;
esac
mkdir -p "$to"
for program in sbx sbx-egress sbx-broker sbx-dispatch sbx-oci sbx-init; do
	tar -xzf "$work/archive" -C "$work" "$name/$program"
	install -m 755 "$work/$name/$program" "$to/$program"
done
"$to/sbx" version
