#!/bin/sh
# After sbx is installed, by root's `make install` or from a package: puts the
# AppArmor profile in place and loads it. An AppArmor that cannot read the profile is
# older than 4.0, restricts no user namespaces, and gets none.
set -eu
case ${1:-} in
/*) profile=$1 ;; # make install's
abort-*) exit 0 ;;
*) profile=/usr/share/sbx/apparmor.profile ;;
esac
installed=/etc/apparmor.d/sbx
command -v apparmor_parser >/dev/null 2>&1 || exit 0
apparmor_parser --skip-kernel-load --skip-cache "$profile" >/dev/null 2>&1 || exit 0
install -m 644 "$profile" "$installed"
[ "$(cat /sys/module/apparmor/parameters/enabled 2>/dev/null)" = Y ] || exit 0
apparmor_parser --replace "$installed" || echo "sbx: the AppArmor profile $installed could not be loaded" >&2
