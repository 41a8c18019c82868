#!/bin/bash
# Every test: as root (where the caller is root) and as an ordinary user, and what
# asks no kernel as the latter alone. It shows how far it is: the tests that have begun
# of those that there are, after each package and every half minute. The last line is
# the count; it ends with non-zero where anything failed.
# SBX_TEST_MUST_RUN=1 turns the skips of kernel tests into failures.
# TESTFLAGS is passed on to go test, PACKAGES replaces ./..., which has
# ./sdk/typescript and ./sdk/python, whose tests are node's and Python's.
set -euo pipefail
cd "$(dirname "$0")/.."

# Where nobody watches, a skip is a failure.
[ "${CI:-}" != true ] || export SBX_TEST_MUST_RUN=1
scripts/deps.sh || echo "test: tests that need what is missing are skipped"
case " ${PACKAGES:-./...} " in
*e2e* | *...*)
	status=0
	SBX_TEST_CLIENTS=$(scripts/clients.sh) || status=$?
	export SBX_TEST_CLIENTS
	case $status in
	0) ;;
	3) SBX_TEST_CLIENTS=none ;; # it has said why
	*) exit 1 ;;
	esac
	;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-test.XXXXXX")
user=''
elsewhere=''
# An engine may make a container's user the owner of its standard streams, the
# host's /dev/null among them.
null=$([ "$(id -u)" != 0 ] || stat -c %u:%g /dev/null)
cleanup() {
	[ -z "$null" ] || chown "$null" /dev/null 2>/dev/null || true
	[ -z "$user" ] || userdel "$user" >/dev/null 2>&1 || true
	chmod -R u+w "$work" 2>/dev/null || true
	rm -rf "$work" ${elsewhere:+"$elsewhere"}
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "test: build"
scripts/build.sh bin
case " ${PACKAGES:-./...} " in
*e2e* | *...* | *sdk*)
	# Built here, since the ordinary user has only the modules of sbx itself.
	export SBX_TEST_WASI=$work/wasi
	scripts/wasi.sh "$SBX_TEST_WASI" || SBX_TEST_WASI=none # it has said why
	;;
esac
tags=urfave_cli_no_docs
if command -v gcc >/dev/null 2>&1 && [ -e /usr/include/seccomp.h ]; then
	tags=$tags,oracle
else
	echo "test: no gcc or no libseccomp headers: the oracles of the filters are left out"
fi
echo "test: vet"
go vet -tags "$tags" ./...
go build -o "$work/testsum" ./scripts/testsum
case " ${PACKAGES:-./...} " in
*e2e* | *...*)
	# Once for both users: the ordinary one has an empty cache.
	export SBX_TEST_BUILT=$work/built
	CGO_ENABLED=0 go build -trimpath -o "$SBX_TEST_BUILT/" ./cmd/sbx ./e2e/testdata/probe ./e2e/testdata/world ./wrap/launch/testdata/refuse
	;;
esac
# One package at a time: some look for processes and mounts that outlive them,
# some hold what they do to a time. The timeout is for what hangs, on a host that
# is several times slower than one on which e2e takes ten minutes.
flags=(-json -count=1 -p 1 -tags "$tags" -timeout 35m)
read -r -a more <<<"${TESTFLAGS:-}"
read -r -a packages <<<"${PACKAGES:-./...}"

# What asks no kernel says the same to every user.
pure='^sbx/(wrap|spec/.+|audit/agent|internal/(doc|layering|reach|view|relay/wire|broker/(caps|document|grant|policy|wire))|scripts/testsum)$'

runs=()
run() { # run LABEL FLAG…
	local label=$1
	shift
	local of=() p
	for p in "${packages[@]}"; do
		case $p in
		./sdk/*) ;; # which is not Go's
		*) of+=("$p") ;;
		esac
	done
	[ "${#of[@]}" -gt 0 ] || return 0
	mapfile -t of < <(go list -tags "$tags" "${of[@]}")
	if [ -n "$both" ] && [ "$label" = root ]; then
		mapfile -t of < <(printf '%s\n' "${of[@]}" | grep -vE "$pure" || true)
		[ "${#of[@]}" -gt 0 ] || return 0
	fi
	# How many there are, by their names: -run may choose fewer.
	local tests
	tests=$(go list -tags "$tags" -f '{{$d := .Dir}}{{range .TestGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}' "${of[@]}" |
		grep . | xargs -r -d '\n' cat | grep -cE '^func (Test[A-Z]|Fuzz|Example)' || true)
	echo "test: as $label: ${#of[@]} packages, $tests tests"
	runs+=("$work/$label.json")
	"$work/testsum" -label "$label" -of "$tests" -save "$work/$label.json" -- \
		go test "${flags[@]}" "$@" ${more[@]+"${more[@]}"} "${of[@]}" || true
}

# The tests of sdk/typescript and sdk/python, whoever runs them.
run_sdks() { # run_sdks LABEL PROGRAM…
	local user=$1
	shift
	run_sdk typescript node "node-$user" "$@" node --test --test-reporter "$PWD/scripts/node-events.mjs" sdk/typescript/test/*.test.js
	# The system's own first: one of root's home is not to be had for others.
	local python
	python=$(PATH=/usr/bin:/bin:$PATH command -v python3 || true)
	run_sdk python "${python:-python3}" "python-$user" "$@" "$python" scripts/python-events.py
}

run_sdk() { # run_sdk NAME NEEDS LABEL PROGRAM…
	local name=$1 needs=$2 label=$3
	shift 3
	case " ${packages[*]} " in
	*" ./sdk/$name "* | *" ./... "*) ;;
	*) return 0 ;;
	esac
	if ! command -v "$needs" >/dev/null 2>&1; then
		echo "test: no $needs: the tests of sdk/$name are left out"
		[ "${SBX_TEST_MUST_RUN:-}" != 1 ] || exit 1
		return 0
	fi
	echo "test: as $label"
	runs+=("$work/$label.json")
	"$work/testsum" -label "$label" -save "$work/$label.json" -- timeout 900 "$@" || true
}

# The ordinary user has an account, a home, a copy of the sources and the
# modules that they need; its test binaries are built by the caller.
as_user() {
	user=sbxtest$$
	chmod 755 "$work"
	useradd --no-create-home --home-dir "$work/home" --shell /bin/bash "$user"
	mkdir "$work/home" "$work/src" "$work/exec"
	{ git ls-files -z --cached --others --exclude-standard 2>/dev/null || find . -path ./.git -prune -o -type f -print0; } |
		while IFS= read -r -d '' f; do
			[ ! -e "$f" ] && [ ! -L "$f" ] || printf '%s\0' "$f"
		done | tar --null -T - -cf - bin | tar -C "$work/src" -xf -
	(
		cd "$work/src"
		proxy=$(go env GOPROXY)
		GOPROXY="file://$(go env GOMODCACHE)/cache/download,$proxy" GOMODCACHE="$work/home/mod" GOFLAGS=-modcacherw \
			go list -tags "$tags" -deps -test ./... >/dev/null
	)
	chown -R "$user:" "$work/home" "$work/src"
	# Beneath /tmp all is private in a sandbox: some tests want another place.
	elsewhere=$(mktemp -d /srv/sbx-test.XXXXXX 2>/dev/null) || elsewhere=''
	[ -z "$elsewhere" ] || chown "$user:" "$elsewhere"
	cat >"$work/exec/run" <<-EOF
		#!/bin/bash
		# go builds where its user alone may look: run a copy of the test binary.
		set -eu
		copy=$work/exec/\$\$.test
		install -m 755 "\$1" "\$copy"
		shift
		status=0
		"$work/exec/as" "\$copy" "\$@" || status=\$?
		rm -f "\$copy"
		exit \$status
	EOF
	cat >"$work/exec/as" <<-EOF
		#!/bin/bash
		# A program as the ordinary user.
		exec env -i PATH="$PATH" HOME="$work/home" USER=$user LOGNAME=$user LANG="${LANG:-C.UTF-8}" TERM="${TERM:-dumb}" \\
			GOMODCACHE="$work/home/mod" GOCACHE="$work/home/cache" GOFLAGS=-buildvcs=false \\
			SBX_TEST_CLIENTS="${SBX_TEST_CLIENTS:-}" SBX_TEST_WASI="${SBX_TEST_WASI:-}" SBX_TEST_BUILT="${SBX_TEST_BUILT:-}" SBX_TEST_MUST_RUN="${SBX_TEST_MUST_RUN:-}" SBX_TEST_ELSEWHERE="$elsewhere" \\
			setpriv --reuid=$user --regid=$user --clear-groups -- "\$@"
	EOF
	chmod 755 "$work/exec/run" "$work/exec/as"
	cd "$work/src"
	run user -exec "$work/exec/run"
	run_sdks user "$work/exec/as"
	cd - >/dev/null
}

both=''
if [ "$(id -u)" -eq 0 ]; then
	! command -v useradd >/dev/null 2>&1 || ! command -v setpriv >/dev/null 2>&1 || both=yes
	SBX_TEST_USER_FOLLOWS=${both:+1} run root
	run_sdks root env
	if [ -n "$both" ]; then
		as_user
	elif [ "${SBX_TEST_MUST_RUN:-}" = 1 ]; then
		echo "test: no useradd or no setpriv: cannot test as an ordinary user" >&2
		exit 1
	fi
else
	run user
	run_sdks user env
fi
"$work/testsum" -may-skip scripts/may-skip.txt "${runs[@]}"
