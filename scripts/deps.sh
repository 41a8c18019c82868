#!/bin/sh
# Installs what the tests need and this machine lacks; quick where nothing is
# missing. Only root installs; anyone else is told what to install.
set -eu

missing=''
need() { # need PACKAGE COMMAND-OR-FILE
	case $2 in
	/*) [ ! -e "$2" ] || return 0 ;;
	*) command -v "$2" >/dev/null 2>&1 && return 0 ;;
	esac
	missing="$missing $1"
}

arch=$(uname -m)
need bubblewrap bwrap       # a rival in the benchmarks, an oracle of sbx wrap
need strace strace          # the oracle of the counts
need gcc gcc                # small C programs that the tests run inside
need make make
need git git                # git inside is part of what is promised
need python3 python3        # an interpreter that agents use
need procps ps
need util-linux setpriv     # tests as an ordinary user
need bsdutils script        # a terminal for the tests
need iproute2 ip
need busybox-static busybox # the smallest root, here and in the virtual machine
command -v node >/dev/null 2>&1 || need nodejs node
need npm npm                # scripts/clients.sh installs the agents by it
# The library that the shipped filters are held against.
[ -e /usr/include/seccomp.h ] || need libseccomp-dev "/usr/lib/$arch-linux-gnu/libseccomp.a"
need passwd useradd
need cpio cpio

if [ -z "$missing" ]; then
	exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "deps: missing:$missing" >&2
	echo "deps: as root on Debian or Ubuntu: apt-get install$missing" >&2
	exit 1
fi
echo "deps: installing$missing"
export DEBIAN_FRONTEND=noninteractive
# An old list of packages may do; it is renewed only where it does not.
# shellcheck disable=SC2086 # a list of names
apt-get install -y -q --no-install-recommends $missing </dev/null >/dev/null 2>&1 || {
	apt-get update -q </dev/null >/dev/null
	apt-get install -y -q --no-install-recommends $missing </dev/null >/dev/null
}
