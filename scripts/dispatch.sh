#!/bin/sh
# The driver for Intercore: ic dispatch spawn --dispatch-sh=THIS, or
# CLAVAIN_DISPATCH_SH=THIS. Its arguments are
#
#   -C DIR -o OUT --prompt-file F [-n NAME] [-m MODEL] [--sandbox MODE] [--timeout S]
#
# It becomes sbx-dispatch, so that its pid is the driver's: see dispatch/README.md.
set -eu
here=$(dirname "$(readlink -f "$0")")
for dir in "$here" "$here/../bin" "$here/../../bin"; do
	[ ! -x "$dir/sbx-dispatch" ] || exec "$dir/sbx-dispatch" driver "$@"
done
command -v sbx-dispatch >/dev/null 2>&1 || {
	echo "dispatch.sh: no sbx-dispatch beside it, in ../bin or in PATH" >&2
	exit 125
}
exec sbx-dispatch driver "$@"
