#!/bin/sh
# Installs what the tests need and this machine lacks; quick where nothing is
# missing. Only root installs; anyone else is told what to install. The other
# sandboxes, which sbx wrap writes for, are not in every release: what cannot be
# had is said, and its tests say so again.
set -eu
PATH=$PATH:/usr/sbin:/sbin # where an ordinary user's may not lead

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
need curl curl             # clients of the tests of network.allow
need openssh-client ssh
need cargo /usr/bin/cargo  # rustup's may have no toolchain
need openssh-server /usr/sbin/sshd
need busybox-static busybox # the smallest root, here and in the virtual machine
command -v node >/dev/null 2>&1 || need nodejs node
need npm npm                # scripts/clients.sh installs the agents by it
# The library that the shipped filters are held against.
[ -e /usr/include/seccomp.h ] || need libseccomp-dev "/usr/lib/$arch-linux-gnu/libseccomp.a"
need passwd useradd
need cpio cpio

# The other sandboxes, and a browser for the page of a record, PACKAGE COMMAND a line.
# scripts/dockerd.sh starts an engine; runsc is gVisor; podman needs catatonit for --init,
# and uidmap as an ordinary user.
others='runc runc
crun crun
docker.io dockerd
docker-cli docker
podman podman
catatonit catatonit
runsc runsc
uidmap newuidmap
chromium chromium'
lacking() { # the packages of $others whose command is not there
	echo "$others" | while read -r package command; do
		command -v "$command" >/dev/null 2>&1 || printf ' %s' "$package"
	done
}
wanted=$(lacking)

[ -n "$missing$wanted" ] || exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	[ -z "$wanted" ] || echo "deps: tests are skipped without:$wanted" >&2
	[ -n "$missing" ] || exit 0
	echo "deps: missing:$missing" >&2
	echo "deps: as root on Debian or Ubuntu: apt-get install$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# No service is started for what the tests start themselves.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	trap 'rm -f "$policy"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi
install() {
	apt-get install -y -q --no-install-recommends "$@" </dev/null >/dev/null 2>&1
}
if [ -n "$missing" ]; then
	echo "deps: installing$missing"
	# An old list of packages may do; it is renewed only where it does not.
	# shellcheck disable=SC2086 # a list of names
	install $missing || {
		apt-get update -q </dev/null >/dev/null
		apt-get install -y -q --no-install-recommends $missing </dev/null >/dev/null
	}
fi
known() { # those of them that the list of packages has: older releases have no docker-cli
	for package in $(lacking); do
		[ -z "$(apt-cache show --no-all-versions "$package" 2>/dev/null)" ] || printf ' %s' "$package"
	done
}
if [ -n "$wanted" ]; then
	echo "deps: installing$wanted"
	# shellcheck disable=SC2046 # a list of names
	install $(known) || true
	if [ -n "$(lacking)" ]; then
		apt-get update -q </dev/null >/dev/null 2>&1 || true
		for package in $(known); do
			install "$package" || true
		done
	fi
	wanted=$(lacking)
	[ -z "$wanted" ] || echo "deps: not to be had:$wanted: their tests are skipped" >&2
fi
