#!/bin/bash
# A Docker engine of the tests' own, apart from any that the machine may run.
#
#   start DIR  starts one with everything beneath DIR, which must not exist or be
#              empty, and prints DOCKER_HOST=… once it answers
#   stop DIR   ends it and all that it started, and removes DIR
#   serve DIR  start, then stop when stdin ends: a caller that dies leaves nothing
#
# Needs root and Debian's docker.io (or any dockerd); runsc is a runtime of it
# where that is installed. Where there can be no engine: one line on stderr, and 3.
#
# The engine has a mount and a pid namespace of its own. In the first nothing of
# another engine is in view (dockerd would use a containerd that it finds, and
# write to /run/docker and /etc/docker); the second takes along whatever still
# runs when the engine ends.
set -euo pipefail

give_up() {
	echo "dockerd: $*" >&2
	exit 3
}

usage() {
	echo "usage: dockerd.sh start|stop|serve DIR" >&2
	exit 2
}

[ $# = 2 ] || usage
verb=$1
dir=$(realpath -m -- "$2")
umask 077

# The pid and when it began: a number alone may be another process by now.
began() { # began PID
	local stat
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	# The name in parentheses may hold anything: count from its end.
	read -r -a stat <<<"${stat##*) }"
	echo "${stat[19]}"
}

alive() {
	local pid when
	{ read -r pid when <"$dir/engine"; } 2>/dev/null || return 1
	[ "$(began "$pid")" = "$when" ]
}

# Groups that the engine made, the deepest first: a group with children stays.
remove_groups() {
	local group=$1
	find /sys/fs/cgroup -mindepth 1 -maxdepth 2 -type d -name "$group" -prune 2>/dev/null | while IFS= read -r top; do
		find "$top" -depth -type d -exec rmdir {} + 2>/dev/null || true
	done
}

stop() {
	local pid group first containers
	[ -e "$dir/engine" ] || return 0
	read -r pid _ <"$dir/engine"
	group=$(cat "$dir/group")
	# unshare passes no signal on; its child, the first process inside, does.
	first=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null || true)
	if alive && [ -n "$first" ]; then
		# The engine would give each ten seconds to heed a signal.
		containers=$(DOCKER_HOST=unix://$dir/docker.sock timeout 5 docker ps -aq 2>/dev/null || true)
		# shellcheck disable=SC2086 # a list of names
		[ -z "$containers" ] || DOCKER_HOST=unix://$dir/docker.sock timeout 10 docker rm -f $containers >/dev/null 2>&1 || true
		# shellcheck disable=SC2086 # one pid, with a blank behind it
		kill -TERM $first 2>/dev/null || true
		for _ in $(seq 100); do
			alive || break
			sleep 0.1
		done
	fi
	if alive; then
		kill -KILL "$pid" 2>/dev/null || true # --kill-child: and with it the namespace
		for _ in $(seq 50); do
			alive || break
			sleep 0.1
		done
	fi
	! alive || give_up "process $pid does not end"
	for _ in $(seq 20); do
		rm -rf -- "$dir" 2>/dev/null && break
		sleep 0.1 # the last of the namespace is still on its way out
	done
	remove_groups "$group"
	[ ! -e "$dir" ] || give_up "cannot remove $dir"
}

start() {
	local pid client group=sbx-dockerd-$$
	[ "$(id -u)" -eq 0 ] || give_up "needs root"
	for program in dockerd containerd runc docker docker-init unshare; do
		command -v "$program" >/dev/null 2>&1 || give_up "$program is not installed (docker.io)"
	done
	# The address of a socket has 108 bytes, the longest name of ours 42.
	[ ${#dir} -le 60 ] || give_up "the path is too long for sockets beneath it: $dir"
	[ -z "$(ls -A "$dir" 2>/dev/null)" ] || give_up "not empty: $dir"
	unshare --mount --pid --fork --kill-child --mount-proc true 2>/dev/null || give_up "no mount and pid namespaces here"
	mkdir -p "$dir"

	local runtimes=''
	if command -v runsc >/dev/null 2>&1; then
		# ptrace is the one platform that needs nothing of the machine.
		runtimes="\"runsc\": {\"path\": \"$(command -v runsc)\", \"runtimeArgs\": [\"--platform=ptrace\", \"--network=none\"]}"
	fi
	if [ -n "${SBX_OCI:-}" ]; then # a directory: the program sbx-oci, its policy and its state
		runtimes="${runtimes:+$runtimes, }\"sbx\": {\"path\": \"$SBX_OCI/sbx-oci\", \"runtimeArgs\": [\"--sbx-policy=$SBX_OCI/policy\", \"--sbx-state=$SBX_OCI/state\"]}"
	fi
	printf '{"runtimes": {%s}}\n' "$runtimes" >"$dir/daemon.json"
	echo "$group" >"$dir/group"
	# What dockerd, containerd and its shims write outside of the directories that
	# they are given: theirs is empty and their own. /opt/containerd is for plugins.
	cat >"$dir/inside" <<-'EOT'
		set -eu
		for d in /run/docker /run/containerd /etc/docker /opt/containerd; do
			[ ! -d "$d" ] || mount -t tmpfs -o mode=711 none "$d"
		done
		exec docker-init -- "$@"
	EOT
	for d in /run/docker /run/containerd /etc/docker /opt/containerd; do
		# A place to mount on; empty, it is left behind as the packages leave it.
		mkdir -p "$d"
	done
	# A shell's background ignores signals, and what is ignored is so in containers.
	env -i --default-signal=INT,QUIT,PIPE PATH="$PATH" HOME="$dir" LANG=C \
		setsid unshare --mount --propagation slave --pid --fork --kill-child --mount-proc \
		sh "$dir/inside" dockerd \
		--config-file "$dir/daemon.json" --host "unix://$dir/docker.sock" --group 0 \
		--data-root "$dir/data" --exec-root "$dir/exec" --pidfile "$dir/dockerd.pid" \
		--storage-driver vfs --bridge none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false \
		--exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$group" --userland-proxy=false \
		--shutdown-timeout 5 --log-level warn \
		</dev/null >"$dir/log" 2>&1 &
	pid=$!
	disown
	echo "$pid $(began "$pid")" >"$dir/engine"
	trap 'stop >&2' EXIT
	for _ in $(seq 150); do
		if DOCKER_HOST=unix://$dir/docker.sock timeout 5 docker version >/dev/null 2>&1; then
			client=ready
			break
		fi
		alive || break
		sleep 0.2
	done
	if [ "${client:-}" != ready ]; then
		local why
		why=$(grep -v '^time=.*level=warning' "$dir/log" | tail -1 | cut -c1-300)
		give_up "the engine does not answer: ${why:-$(tail -1 "$dir/log" | cut -c1-300)}"
	fi
	echo "DOCKER_HOST=unix://$dir/docker.sock"
	trap - EXIT
}

trap 'exit 130' INT
trap 'exit 143' TERM
trap '' PIPE # who does not wait for the answer gets no engine either
case $verb in
start) start ;;
stop) stop ;;
serve)
	start
	# In the background, since a trap waits for what is in the foreground.
	cat <&0 >/dev/null &
	reader=$!
	trap 'kill "$reader" 2>/dev/null || true; stop' EXIT
	wait "$reader" || true
	;;
*) usage ;;
esac
