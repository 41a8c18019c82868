#!/bin/sh
# Installs what bin/, man/ and completions/ hold under $DESTDIR$PREFIX.
set -eu
cd "$(dirname "$0")/.."
to=${DESTDIR:-}${PREFIX:-/usr/local}

install -d "$to/bin"
install -m 755 bin/* "$to/bin/"
for page in man/*.1; do
	[ -e "$page" ] || continue
	install -d "$to/share/man/man1"
	install -m 644 "$page" "$to/share/man/man1/"
done
completion() { # completion FILE FOLDER NAME
	[ -e "$1" ] || return 0
	install -d "$to/share/$2"
	install -m 644 "$1" "$to/share/$2/$3"
}
completion completions/sbx.bash bash-completion/completions sbx
completion completions/sbx.zsh zsh/site-functions _sbx
completion completions/sbx.fish fish/vendor_completions.d sbx.fish
