#!/bin/bash
# Runs the validation programs of opencontainers/runtime-tools by runc, then by sbx-oci in
# its place: without a spec, and under one that allows all. What succeeds under runc has to
# succeed under sbx-oci. Needs root, runc and the module proxy; some minutes.
#
#   runtime-tools.sh [PROGRAM...]   all, or those of that name
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "runtime-tools: needs root" >&2; exit 3; }
command -v runc >/dev/null || { echo "runtime-tools: runc is not installed" >&2; exit 3; }
# The programs leave mounts behind.
[ -n "${SBX_OWN_MOUNTS:-}" ] || exec env SBX_OWN_MOUNTS=1 unshare --mount --propagation private "scripts/$(basename "$0")" "$@"

work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-runtime-tools.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
export TMPDIR=$work/tmp
module=github.com/opencontainers/runtime-tools
mkdir -p "$work"/{bin,run,free,allowed,tmp}
(
	cd scripts/tools/runtime-tools
	CGO_ENABLED=0 go build -o "$work/run/runtimetest" $module/cmd/runtimetest
	CGO_ENABLED=0 go build -o "$work/bin/" $module/validation/...
	cp "$(go list -m -f '{{.Dir}}' $module)/rootfs-$(go env GOARCH).tar.gz" "$work/run/"
)
scripts/build.sh "$work/sbx"
echo '{"access_mode": "danger-full-access"}' >"$work/allowed/all.json"
for policy in free allowed; do
	printf '#!/bin/sh\nexec %q --sbx-policy %q --sbx-state %q "$@"\n' "$work/sbx/sbx-oci" "$work/$policy" "$work/state" >"$work/$policy/runtime"
	chmod 755 "$work/$policy/runtime"
done

# Under any spec a process has no_new_privs, and hooks are told of the edited copy as the
# bundle: these fail, as do the sums of what is tried inside (by the test's name).
expected='has expected noNewPrivileges|the state of the container MUST be passed to'

# tried PROGRAM RUNTIME: what succeeds, a line each.
tried() {
	(cd "$work/run" && RUNTIME=$2 timeout 60 "$work/bin/$1" </dev/null 2>/dev/null || true) >"$work/out"
	sed -n 's/^ok [0-9]* - //p' "$work/out" | sort -u
}

failed=0 programs=0 lines=0 aside=''
for program in "${@:-}"; do
	for path in "$work/bin/"${program:-*}; do
		name=$(basename "$path")
		tried "$name" runc >"$work/runc.ok"
		[ -s "$work/runc.ok" ] || { aside="$aside $name"; continue; }
		programs=$((programs + 1)) lines=$((lines + $(wc -l <"$work/runc.ok")))
		for policy in free allowed; do
			tried "$name" "$work/$policy/runtime" >"$work/sbx.ok"
			missing=$(comm -23 "$work/runc.ok" "$work/sbx.ok")
			[ "$policy" = free ] || missing=$(grep -vE "$expected" <<<"$missing" || true)
			# A sum fails with any line inside it, which is told in the same output.
			if [ "$policy" = allowed ] && grep -q 'noNewPrivileges' "$work/out" && [ "$(grep -o 'not ok [0-9]* - [^\\]*' "$work/out" | grep -vE "$expected" | sed 's/not ok [0-9]* - //' | sort -u)" = "$missing" ]; then
				missing=''
			fi
			[ -z "$missing" ] || { failed=1; echo "$name, policy $policy:"; sed 's/^/  /' <<<"$missing"; }
		done
	done
done
echo "runtime-tools: $programs programs, $lines things tried; set aside, since nothing succeeds under runc:$aside"
exit $failed
