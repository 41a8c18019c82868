#!/bin/bash
# Every test: as root (where the caller is root) and beside that as an ordinary user, and
# what asks no kernel as one of them alone. Each has two processes, of which one does a
# half of e2e alone. It shows how far each is: the tests that have begun of those that
# there are, after each package and every half minute. The last line is the count; it
# ends with non-zero where anything failed.
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
parts=() # the processes of the parts that run side by side, each with a group of its own
# An engine may make a container's user the owner of its standard streams, the
# host's /dev/null among them.
null=$([ "$(id -u)" != 0 ] || stat -c %u:%g /dev/null)
cleanup() {
	trap '' INT TERM # a second signal does not end what the first began
	local part
	for part in ${parts[@]+"${parts[@]}"}; do
		kill -- "-$part" 2>/dev/null || true
	done
	wait
	[ -z "$null" ] || chown "$null" /dev/null 2>/dev/null || true
	if [ -n "$user" ]; then
		pkill -KILL -U "$user" || true # whose account stays as long as something of it runs
		userdel "$user" >/dev/null 2>&1 || true
	fi
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
# By -trimpath the ordinary user's copy of the sources is found in root's build cache.
go vet -trimpath -tags "$tags" ./...
go build -trimpath -o "$work/testsum" ./scripts/testsum
case " ${PACKAGES:-./...} " in
*e2e* | *...*)
	# Once for both users: the ordinary one has an empty cache.
	export SBX_TEST_BUILT=$work/built
	CGO_ENABLED=0 go build -trimpath -o "$SBX_TEST_BUILT/" ./cmd/sbx ./cmd/sbx-egress ./e2e/testdata/probe ./e2e/testdata/world \
		./internal/relay/testdata/confined ./wrap/launch/testdata/refuse
	;;
esac
# One package at a time in each part: some are busy with many processes of their own. A
# test that looks for what outlives it looks for a mark of its own, since the other part
# runs the same test beside it. The timeout is for what hangs, on a host that is several
# times slower than one on which e2e takes ten minutes.
flags=(-json -count=1 -p 1 -vet=off -trimpath -tags "$tags" -timeout 60m)
read -r -a more <<<"${TESTFLAGS:-}"
read -r -a packages <<<"${PACKAGES:-./...}"
ours=() # those that are Go's
for p in "${packages[@]}"; do
	case $p in
	./sdk/*) ;;
	*) ours+=("$p") ;;
	esac
done

# What asks no kernel says the same to every user: to the ordinary one, and what builds
# programs to root, who has a build cache.
pure='^sbx/(wrap(/outer|/world|/defaults)?|spec/.+|audit/(agent|show)|internal/(doc|reach|view|relay/wire|broker/(caps|document|grant|policy|wire))|scripts/(sbom|testsum))$'
builds='^sbx/internal/layering$'

# e2e takes as long as all else: its tests are done in two halves, by their names.
e2e='^sbx/e2e$'
half='^Test([A-DNO]|Inside|Wrap)'

# run LABEL NOT HALF FLAG…: the packages that are not NOT; of those of HALF -run only the
# half of the tests, of those of HALF -skip all but those.
run() {
	local label=$1 not=$2 which=$3
	shift 3
	local of=()
	[ "${#ours[@]}" -gt 0 ] || return 0
	mapfile -t of < <(go list -tags "$tags" "${ours[@]}" | grep -vE "$not" | { [ -z "$which" ] && cat || grep -E "$e2e"; })
	[ "${#of[@]}" -gt 0 ] || return 0
	local chosen=(cat)
	case $which in
	-run) chosen=(grep -E "$half") ;;
	-skip) chosen=(grep -vE "$half") ;;
	esac
	[ -z "$which" ] || set -- "$which" "$half" "$@"
	# How many there are, by their names: -run may choose fewer.
	local tests
	tests=$(go list -tags "$tags" -f '{{$d := .Dir}}{{range .TestGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}' "${of[@]}" |
		grep . | xargs -r -d '\n' cat | sed -nE 's/^func ((Test[A-Z]|Fuzz|Example)\w*).*/\1/p' | "${chosen[@]}" | grep -c . || true)
	echo "test: as $label: ${#of[@]} packages, $tests tests"
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
	"$work/testsum" -label "$label" -save "$work/$label.json" -- timeout 900 "$@" || true
}

# The ordinary user has an account, a home, a copy of the sources and the
# modules that they need; its test binaries are built by the caller.
make_user() {
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
	# Beneath /tmp all is private in a sandbox: some tests want another place, which is not
	# /srv, where some mount.
	elsewhere=$(mktemp -d /var/lib/sbx-test.XXXXXX 2>/dev/null) || elsewhere=''
	if [ -n "$elsewhere" ]; then
		mkdir "$elsewhere"/{root,user}-{all,half,rest}
		chown "$user:" "$elsewhere"/user-*
		chmod 755 "$elsewhere"
	fi
	cat >"$work/exec/apart" <<-EOF
		#!/bin/bash
		# Runs a program where the other parts' directories are empty: a plan hides the
		# sockets that there are, and what another part has there comes and goes.
		unshare --mount true 2>/dev/null || exec "\$@" # a root who may not, as in a container
		exec unshare --mount --propagation slave -- bash -euc '
			for dir in "\$0"/*; do
				[ ! -d "\$dir" ] || [ "\$dir" = "\$SBX_TEST_ELSEWHERE" ] || mount -t tmpfs -o ro,size=4k,mode=755 empty "\$dir"
			done
			exec "\$@"' "${elsewhere:-/nowhere}" "\$@"
	EOF
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
			SBX_TEST_CLIENTS="${SBX_TEST_CLIENTS:-}" SBX_TEST_WASI="${SBX_TEST_WASI:-}" SBX_TEST_BUILT="${SBX_TEST_BUILT:-}" SBX_TEST_MUST_RUN="${SBX_TEST_MUST_RUN:-}" SBX_TEST_ELSEWHERE="\${SBX_TEST_ELSEWHERE:-}" \\
			setpriv --reuid=$user --regid=$user --clear-groups -- "\$@"
	EOF
	chmod 755 "$work/exec"/{apart,run,as}
}

# part WHO HALF: one of the processes that test side by side.
part() {
	local not=$pure program="$work/exec/apart" as=env
	export SBX_TEST_ELSEWHERE=${elsewhere:+$elsewhere/$1-$2}
	if [ "$1" = user ]; then
		cd "$work/src"
		not=$builds program="$program $work/exec/run" as=$work/exec/as
	fi
	case $2 in
	all) run "$1" "$not" '' -exec "$program" ;;
	half) run "$1-half" "$not" -run -exec "$program" ;;
	rest)
		run "$1" "$not|$e2e" '' -exec "$program"
		run "$1-rest" "$not" -skip -exec "$program"
		;;
	esac
	[ "$2" = half ] || run_sdks "$1" "$work/exec/apart" "$as"
}

if [ "$(id -u)" -ne 0 ]; then
	run user '^$' ''
	run_sdks user env
elif command -v useradd >/dev/null 2>&1 && command -v setpriv >/dev/null 2>&1; then
	make_user
	# Compiled once, before all would.
	[ "${#ours[@]}" -eq 0 ] || go list -trimpath -tags "$tags" -export -test "${ours[@]}" >/dev/null
	export SBX_TEST_USER_FOLLOWS=1
	halves='half rest'
	case " ${TESTFLAGS:-}" in *' -run'* | *' -skip'*) halves=all ;; esac # which are theirs
	set -m
	for which in $halves; do
		for who in root user; do
			part "$who" "$which" </dev/null &
			parts+=($!)
		done
	done
	set +m
	for part in "${parts[@]}"; do
		wait "$part"
	done
	parts=()
elif [ "${SBX_TEST_MUST_RUN:-}" = 1 ]; then
	echo "test: no useradd or no setpriv: cannot test as an ordinary user" >&2
	exit 1
else
	run root '^$' ''
	run_sdks root env
fi
"$work/testsum" -may-skip scripts/may-skip.txt "$work"/*.json
