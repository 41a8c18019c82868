#!/bin/sh
# Installs the programs of bin/, the manual and the completions under
# $DESTDIR$PREFIX, and the AppArmor profile as $DESTDIR/etc/apparmor.d/sbx.
set -eu
cd "$(dirname "$0")/.."
# Under sudo there may be no go in PATH: what `make` built is as good.
if command -v go >/dev/null 2>&1; then
	scripts/build.sh bin
elif [ ! -x bin/sbx ]; then
	echo "install: no go in PATH to build with, and nothing built: run make first" >&2
	exit 1
fi
prefix=${PREFIX:-/usr/local}
to=${DESTDIR:-}$prefix
work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-install.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
scripts/manual.sh bin/sbx "$work"

# The driver for Intercore finds sbx-dispatch two directories up.
install -d "$to/share/sbx"
install -m 755 scripts/dispatch.sh "$to/share/sbx/dispatch.sh"
install -d "$to/bin" "$to/share/man/man1" "$to/share/man/man5" "$to/share/bash-completion/completions" \
	"$to/share/zsh/site-functions" "$to/share/fish/vendor_completions.d"
install -m 755 bin/* "$to/bin/"
install -m 644 "$work"/man/*.1 "$to/share/man/man1/"
install -m 644 "$work"/man/*.5 "$to/share/man/man5/"
for program in sbx sbx-broker; do
	install -m 644 "$work/completions/$program.bash" "$to/share/bash-completion/completions/$program"
	install -m 644 "$work/completions/$program.zsh" "$to/share/zsh/site-functions/_$program"
	install -m 644 "$work/completions/$program.fish" "$to/share/fish/vendor_completions.d/$program.fish"
done

# The AppArmor profile belongs to the system, and a prefix in a home directory does not.
system=no
case $prefix in
*[!a-zA-Z0-9/._+@~-]*) ;; # what AppArmor would read as a pattern
/usr | /usr/* | /opt | /opt/*) system=yes ;;
esac
profile() { # profile PATH: for the sbx there
	sed "s|/usr/local/bin/sbx|$1|" cmd/sbx/apparmor.profile >"$work/apparmor.profile"
}
if [ $system = yes ] && [ -n "${DESTDIR:-}" ]; then
	profile "$prefix/bin/sbx"
	install -d "$DESTDIR/etc/apparmor.d"
	install -m 644 "$work/apparmor.profile" "$DESTDIR/etc/apparmor.d/sbx"
elif [ $system = yes ] && [ "$(id -u)" = 0 ]; then
	profile "$(readlink -f "$to/bin/sbx")"
	packaging/postinstall.sh "$work/apparmor.profile"
elif [ "$(cat /proc/sys/kernel/apparmor_restrict_unprivileged_userns 2>/dev/null)" = 1 ]; then
	echo "install: AppArmor here denies user namespaces to programs without a profile; to load one:"
	echo "  $to/bin/sbx doctor --apparmor | sudo tee /etc/apparmor.d/sbx && sudo apparmor_parser -r /etc/apparmor.d/sbx"
fi
