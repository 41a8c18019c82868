#!/bin/sh
# Installs the programs of bin/, the manual and the completions under
# $DESTDIR$PREFIX.
set -eu
cd "$(dirname "$0")/.."
to=${DESTDIR:-}${PREFIX:-/usr/local}
work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-install.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
scripts/manual.sh bin/sbx "$work"

# The driver for Intercore finds sbx-dispatch two folders up.
install -d "$to/share/sbx"
install -m 755 scripts/dispatch.sh "$to/share/sbx/dispatch.sh"
install -d "$to/bin" "$to/share/man/man1" "$to/share/bash-completion/completions" \
	"$to/share/zsh/site-functions" "$to/share/fish/vendor_completions.d"
install -m 755 bin/* "$to/bin/"
install -m 644 "$work"/man/*.1 "$to/share/man/man1/"
install -m 644 "$work/completions/sbx.bash" "$to/share/bash-completion/completions/sbx"
install -m 644 "$work/completions/sbx.zsh" "$to/share/zsh/site-functions/_sbx"
install -m 644 "$work/completions/sbx.fish" "$to/share/fish/vendor_completions.d/sbx.fish"
