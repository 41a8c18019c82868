#!/bin/bash
# The tests of packages that ask no kernel, built for arm64 and run by qemu's user
# emulation. User namespaces, Landlock and seccomp it does not have: of arm64's
# kernel this says nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || {
	echo "test-arm64: no qemu-aarch64; as root on Debian or Ubuntu: apt-get install qemu-user-static" >&2
	exit 1
}
GOOS=linux GOARCH=arm64 CGO_ENABLED=0 go test -short -count=1 -p 1 -tags urfave_cli_no_docs -timeout 10m -exec "$qemu" \
	./internal/reach ./internal/view ./internal/relay/wire ./spec/agent ./spec/profile ./audit/agent
