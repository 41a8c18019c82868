#!/bin/sh
# Before the package goes, but not before a newer one: takes away the AppArmor
# profile that postinstall.sh put in place.
set -eu
case ${1:-} in
upgrade | 1) exit 0 ;; # dpkg's word, rpm's count of those that stay
esac
installed=/etc/apparmor.d/sbx
[ -e "$installed" ] || exit 0
[ "$(cat /sys/module/apparmor/parameters/enabled 2>/dev/null)" != Y ] || apparmor_parser --remove "$installed" || true
rm -f "$installed"
