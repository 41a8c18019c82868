#!/bin/bash
# Runs the kernel tests and the smoke cases on Debian's own kernel, in a
# virtual machine: under KVM where that works, else in software, where the
# tests are run with -test.short. Nothing is installed but qemu and busybox.
#
#   SBX_VM_KERNEL=vmlinuz   another kernel than Debian's
#   SBX_VM_LIMIT=seconds    the machine's time; 900 by default
#   SBX_VM_APPEND=…         more for the kernel's command line
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=${SBX_VM_CACHE:-$PWD/.cache/vm}
mkdir -p "$cache"
work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-vm.XXXXXX")
trap 'rm -rf "$work"' EXIT

case $(uname -m) in
x86_64) machine=x86_64 image=linux-image-amd64 console=ttyS0 ;;
aarch64) machine=aarch64 image=linux-image-arm64 console=ttyAMA0 ;;
*) echo "vm: no machine for $(uname -m)" >&2; exit 1 ;;
esac

tools() {
	local lack=()
	command -v "qemu-system-$machine" >/dev/null || lack+=("$([ $machine = aarch64 ] && echo qemu-system-arm || echo qemu-system-x86)")
	command -v cpio >/dev/null || lack+=(cpio)
	if ! busybox=$(command -v busybox) || ldd "$busybox" >/dev/null 2>&1; then lack+=(busybox-static); fi
	[ ${#lack[@]} -gt 0 ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		echo "vm: apt-get install ${lack[*]}" >&2
		exit 1
	fi
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${lack[@]}" </dev/null >/dev/null ||
		{ apt-get update -q && apt-get install -y -q --no-install-recommends "${lack[@]}" </dev/null >/dev/null; }
	busybox=$(command -v busybox)
}

# kernel unpacks Debian's newest kernel into the cache; it is not installed.
kernel() {
	[ -z "${SBX_VM_KERNEL:-}" ] || { vmlinuz=$SBX_VM_KERNEL; return 0; }
	local package
	package=$(apt-cache depends "$image" 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[0-9][^ ]*\).*/\1/p' | head -n 1)
	if [ -z "$package" ] && [ "$(id -u)" -eq 0 ]; then
		apt-get update -q >/dev/null
		package=$(apt-cache depends "$image" | sed -n 's/.*Depends: \(linux-image-[0-9][^ ]*\).*/\1/p' | head -n 1)
	fi
	[ -n "$package" ] || { echo "vm: no package $image is known here" >&2; exit 1; }
	if [ ! -e "$cache/$package/vmlinuz" ]; then
		echo "vm: unpacking $package"
		(cd "$work" && apt-get download -q "$package" >/dev/null 2>&1) || {
			[ "$(id -u)" -eq 0 ] && apt-get update -q >/dev/null
			(cd "$work" && apt-get download -q "$package" >/dev/null)
		}
		mkdir -p "$work/deb"
		dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb |
			tar -x -C "$work/deb" --wildcards './boot/vmlinuz*' '*/kernel/fs/overlayfs/overlay.ko*'
		rm -rf "${cache:?}/$package"
		mkdir -p "$cache/$package"
		find "$work/deb" -name 'overlay.ko' -exec cp {} "$cache/$package/" \;
		cp "$work"/deb/boot/vmlinuz* "$cache/$package/vmlinuz"
	fi
	vmlinuz=$cache/$package/vmlinuz
}

# root puts the machine's files together: busybox, sbx, test binaries.
root() {
	local r=$work/root package binary
	mkdir -p "$r"/{bin,sbin,usr/bin,etc,modules,src,root,home/user,tmp,var/tmp}
	cp "$busybox" "$r/bin/busybox"
	ln -s busybox "$r/bin/sh"
	cp bin/sbx "$r/usr/bin/sbx"
	cp scripts/vm/init "$r/init"
	cp scripts/vm/smoke.sh "$r/smoke.sh"
	cp "$(dirname "$vmlinuz")"/*.ko "$r/modules/" 2>/dev/null || true
	printf 'root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home/user:/bin/sh\n' >"$r/etc/passwd"
	printf 'root:x:0:\nuser:x:1000:\n' >"$r/etc/group"
	printf '127.0.0.1 localhost\n' >"$r/etc/hosts"
	echo "$limit" >"$r/limit"
	echo $((limit / 3)) >"$r/testtimeout"
	echo "$short" >"$r/short"
	: >"$r/tests"
	cp go.mod "$r/src/"
	[ ! -d testdata ] || cp -a testdata "$r/src/"
	while read -r package; do
		case $package in '' | '#'*) continue ;; esac
		ls "$package"/*_test.go >/dev/null 2>&1 || continue
		binary=/src/$package/$(basename "$package").test
		mkdir -p "$r/src/$package"
		CGO_ENABLED=0 go test -c -tags urfave_cli_no_docs -o "$r$binary" "./$package"
		[ ! -d "$package/testdata" ] || cp -a "$package/testdata" "$r/src/$package/"
		echo "$package $binary" >>"$r/tests"
	done <scripts/vm/packages.txt
}

# accelerate chooses KVM only where it boots this very kernel: an open /dev/kvm
# says little inside another virtual machine.
accelerate() {
	local kvm=(-accel kvm -cpu host)
	[ $machine = aarch64 ] || kvm=(-accel kvm -cpu "host,-arch-capabilities")
	[ $machine = x86_64 ] || kvm+=(-machine virt)
	short=
	if [ -r /dev/kvm ] && [ -w /dev/kvm ] &&
		timeout -k 5 20 "qemu-system-$machine" "${kvm[@]}" -m 512 -kernel "$vmlinuz" -nographic -nodefaults \
			-serial stdio -no-reboot -append "console=$console panic=-1" </dev/null 2>&1 | grep -q 'Kernel panic'; then
		accel=("${kvm[@]}")
		return 0
	fi
	short=-test.short
	accel=(-accel tcg -cpu max)
	[ $machine = x86_64 ] || accel+=(-machine virt)
}

limit=${SBX_VM_LIMIT:-900}
tools
kernel
accelerate
scripts/build.sh bin
root
(cd "$work/root" && find . | cpio -o -H newc --quiet --owner 0:0) | gzip -1 >"$work/initrd"

log=$work/console
echo "vm: ${accel[*]}, $(basename "$(dirname "$vmlinuz")"), at most ${limit}s"
timeout -k 10 $((limit + 60)) "qemu-system-$machine" "${accel[@]}" -m 2048 -smp 2 \
	-kernel "$vmlinuz" -initrd "$work/initrd" -nographic -nodefaults -serial stdio -no-reboot \
	-append "console=$console quiet panic=-1 rdinit=/init lsm=landlock,lockdown,yama,integrity,apparmor,bpf ${SBX_VM_APPEND:-}" \
	</dev/null 2>&1 | tr -d '\r' | tee "$log" || true

sum=$(sed -n 's/^vm: done: //p' "$log" | tail -n 1)
if [ -z "$sum" ]; then
	echo "vm: the machine did not come to its end" >&2
	echo "0 passed, 1 failed"
	exit 1
fi
echo "$sum"
[ "$(sed -n 's/.* \([0-9]*\) failed.*/\1/p' <<<"$sum")" = 0 ] && [ "${sum%% *}" != 0 ]
