#!/bin/bash
# Builds the image of docker/sandbox/Dockerfile.sandbox as sbx-sandbox:latest,
# without a network: by docker (DOCKER_HOST says which) where it answers, else by
# podman.
#
#   image.sh             builds it and prints its name
#   image.sh docker      by docker alone; podman likewise
#   image.sh tar FILE    writes the file system alone, for tools that take no image
#
# SBX=FILE puts another build of sbx in it.
# Where it cannot be done: one line on stderr, and 3.
set -euo pipefail
cd "$(dirname "$0")/.."
ref='sbx-sandbox:latest'

give_up() {
	echo "image: $*" >&2
	exit 3
}

work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-image.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# write_tar FILE: the same programs give the same bytes.
write_tar() {
	local sbx=${SBX:-} busybox root=$work/root path
	busybox=$(command -v busybox) || give_up "busybox is not installed (busybox-static)"
	if [ -z "$sbx" ]; then
		scripts/build.sh bin
		sbx=bin/sbx
	fi
	for path in "$busybox" "$sbx"; do
		! LC_ALL=C ldd "$path" 2>&1 | grep -q '=>\|ld-linux\|ld-musl' || give_up "$path is not static"
	done
	mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,etc,dev,proc,sys,run,tmp,work,input,output}
	install -m 755 "$busybox" "$root/bin/busybox"
	install -m 755 "$sbx" "$root/usr/bin/sbx"
	"$busybox" --list-full | grep / | while read -r path; do
		mkdir -p "$root/$(dirname "$path")"
		[ -e "$root/$path" ] || ln -s /bin/busybox "$root/$path"
	done
	printf 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/work:/bin/sh\n' >"$root/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
	chmod -R u=rwX,go=rX "$root"
	# A tmpfs mounted on a directory takes its mode, not its owner.
	chmod 1777 "$root"/{tmp,work,output}
	# The directories that a job writes are its user's; all else is root's.
	local flags=(-C "$root" --sort=name --numeric-owner --mtime=@0 --format=ustar)
	tar "${flags[@]}" --owner=0 --group=0 --exclude=./work --exclude=./output -cf "$work/root.tar" .
	tar "${flags[@]}" --owner=65534 --group=65534 -rf "$work/root.tar" ./output ./work
	mv "$work/root.tar" "$1"
}

# An import makes the same image: what the Dockerfile says, as changes.
changes() {
	sed -n 's/^\(USER\|WORKDIR\|CMD\) /&/p' docker/sandbox/Dockerfile.sandbox
}

by() { # by docker|podman
	local change list=()
	while IFS= read -r change; do list+=(--change "$change"); done < <(changes)
	write_tar "$work/context/root.tar"
	# The builder of old: the newer one is a program of its own, often not there.
	DOCKER_BUILDKIT=0 timeout 120 "$1" build -q -t "$ref" -f docker/sandbox/Dockerfile.sandbox "$work/context" >/dev/null 2>"$work/why" ||
		timeout 120 "$1" import "${list[@]}" "$work/context/root.tar" "$ref" >/dev/null 2>>"$work/why" ||
		give_up "$1 can neither build nor import it: $(grep . "$work/why" | tail -1)"
	echo "$ref"
}

docker_answers() { command -v docker >/dev/null 2>&1 && timeout 10 docker version >/dev/null 2>&1; }

mkdir "$work/context"
case ${1:-} in
tar)
	[ $# = 2 ] || give_up "usage: image.sh tar FILE"
	write_tar "$2"
	;;
docker) docker_answers || give_up "docker does not answer"; by docker ;;
podman) command -v podman >/dev/null 2>&1 || give_up "podman is not installed"; by podman ;;
'')
	if docker_answers; then
		by docker
	elif command -v podman >/dev/null 2>&1; then
		by podman
	else
		give_up "docker does not answer, and podman is not installed"
	fi
	;;
*) give_up "usage: image.sh [docker|podman|tar FILE]" ;;
esac
