#!/bin/sh
# Smoke cases of sbx exec, asserted on what happened and on the record. Each
# refusal is asked twice, with the gate open and shut, and the inside tells by
# a word of its own that it came to its end.
#
#   SBX=bin/sbx sh scripts/vm/smoke.sh
#
# Plain POSIX sh and busybox suffice. The last line is the count.
# shellcheck disable=SC2016 # check evaluates what it is handed
set -u

SBX=${SBX:-sbx}
case $SBX in
*/*) SBX=$(cd "$(dirname "$SBX")" && pwd)/$(basename "$SBX") ;;
esac
box=$(command -v busybox) || { echo "smoke: no busybox" >&2; exit 1; }
# Not beneath /tmp: a private /tmp would hide things for another reason.
base=$(mktemp -d "${SMOKE_DIR:-$HOME}/sbx-smoke.XXXXXX") || exit 1
trap 'rm -rf "$base"' EXIT
HOME=$base/home
XDG_STATE_HOME=$base/state
export HOME XDG_STATE_HOME
mkdir -p "$HOME/.ssh" "$base/ws" "$base/out" "$XDG_STATE_HOME"
echo secret >"$HOME/.ssh/id_ed25519"
passed=0
failed=0
skipped=0
who=$(id -u)
nap=$((100000 + $$)) # seconds, and a name for a process

ok() {
	passed=$((passed + 1))
	echo "ok   uid $who: $1"
}
bad() {
	failed=$((failed + 1))
	echo "FAIL uid $who: $1"
	sed 's/^/     stderr: /' "$base/err" 2>/dev/null
	sed 's/^/     stdout: /' "$base/stdout" 2>/dev/null
	[ ! -s "$base/rec.json" ] || head -c 3000 "$base/rec.json" | sed 's/^/     record: /'
	echo
}
skip() {
	skipped=$((skipped + 1))
	echo "skip uid $who: $1"
}
check() { # check NAME COMMAND…: passes where COMMAND succeeds
	name=$1
	shift
	if "$@"; then ok "$name"; else bad "$name"; fi
}

# run SPEC SCRIPT: the script under the spec, in the workspace; sets status.
run() {
	printf '%s\n' "$1" >"$base/spec.json"
	rm -f "$base/rec.json"
	(cd "$base/ws" && exec "$SBX" exec --spec "$base/spec.json" --effective "$base/rec.json" -- "$box" sh -c "$2") \
		>"$base/stdout" 2>"$base/err" </dev/null
	status=$?
}
said() { grep -qxF "$1" "$base/stdout"; }
flat() { tr -d '\n' <"$base/rec.json" | sed 's/": *"/":"/g; s/": */":/g; s/, *"/,"/g; s/{ */{/g'; }
# line FIELD STATUS: the record's line on FIELD has this status.
line() {
	flat | tr '{' '\n' | grep -F "\"field\":\"$1\"" | grep -qF "\"status\":\"$2\""
}
state() { flat | grep -qF "\"state\":\"$1\""; }
code() { flat | grep -qF "\"code\":$1"; }

run '{}' 'echo here; exit 7'
check 'no constraint: the exit status passes through' test "$status" = 7
check 'no constraint: stdout passes through' said here
check 'no constraint: the record is finished' state exited
check 'no constraint: the record has the status' code 7

ww='{"access_mode": "workspace-write", "working_dir": "'$base/ws'"}'
ro='{"access_mode": "read-only", "working_dir": "'$base/ws'"}'

try='echo a >"'$base'/out/f" && echo wrote; echo end'
run '{}' "$try"
check 'control: a write elsewhere succeeds' said wrote
rm -f "$base/out/f"
run "$ww" "$try"
check 'workspace-write: a write elsewhere is refused' eval 'said end && ! said wrote && [ ! -e "$base/out/f" ]'
check 'workspace-write: enforced, says the record' line access_mode enforced
run "$ww" 'echo a >f && cat f; echo b >/tmp/sbx-smoke-'$$' && echo tmp; echo end'
check 'workspace-write: the workspace is written' eval 'said a && said end && [ "$(cat "$base/ws/f")" = a ]'
check 'workspace-write: /tmp is private' eval 'said tmp && [ ! -e /tmp/sbx-smoke-$$ ]'
rm -f "$base/ws/f"
run "$ro" 'echo a >f && echo wrote; echo end'
check 'read-only: the workspace is not written' eval 'said end && ! said wrote && [ ! -e "$base/ws/f" ]'
check 'read-only: enforced, says the record' line access_mode enforced

try='cat "'$HOME'/.ssh/id_ed25519"; echo end'
run '{}' "$try"
check 'control: the secret is read' said secret
run "$ro" "$try"
check 'read-only: the secret is hidden' eval 'said end && ! said secret'

mkdir -p "$base/ws/.git/hooks" "$base/ws/.git/objects" "$base/ws/.git/refs/heads"
echo 'ref: refs/heads/main' >"$base/ws/.git/HEAD"
printf '[core]\n\trepositoryformatversion = 0\n' >"$base/ws/.git/config"
try='echo x >.git/hooks/post-commit && echo wrote; echo end'
run '{}' "$try"
check 'control: a hook is written' said wrote
rm -f "$base/ws/.git/hooks/post-commit"
run "$ww" "$try"
check 'workspace-write: a hook is refused' eval 'said end && ! said wrote && [ ! -e "$base/ws/.git/hooks/post-commit" ]'
run "$ww" 'mv .git old && echo moved; echo end'
check 'workspace-write: the repository is not moved away' eval 'said end && ! said moved && [ -d "$base/ws/.git" ]'
run "$ww" 'echo x >.git/index && echo wrote'
check 'workspace-write: the index is written' said wrote

# An agent's home is a layer of its own, beside what is its state.
mkdir -p "$HOME/.codex" "$HOME/d/e"
echo model >"$HOME/.codex/config.toml"
echo rc >"$HOME/.rc"
printf '#!/bin/sh\n. "%s"\n' "$base/ws/agent.sh" >"$base/ws/codex"
chmod 755 "$base/ws/codex"
cat >"$base/ws/agent.sh" <<-'EOF'
	cd
	echo x >>.rc && echo changed
	echo new >.tmp && mv .tmp .rc && echo replaced
	rm -r d && echo removed
	mkdir d && echo again
	echo s >.codex/s && echo own
	echo x >.codex/config.toml && echo unlocked
	echo x >.codex/hooks.json && echo made
	rm -rf .ssh; mknod .ssh c 0 0; cat .ssh/id_ed25519
	echo end
EOF
agent() { # agent SPEC
	printf '%s\n' "$1" >"$base/spec.json"
	rm -f "$base/rec.json"
	(cd "$base/ws" && exec "$SBX" exec --spec "$base/spec.json" --effective "$base/rec.json" -- "$base/ws/codex") \
		>"$base/stdout" 2>"$base/err" </dev/null
	status=$?
}
agent "$ww"
check 'an agent: its own is written, but for what is locked' eval 'said end && said own && [ -e "$HOME/.codex/s" ] && ! said unlocked && [ "$(cat "$HOME/.codex/config.toml")" = model ] && [ ! -e "$HOME/.codex/hooks.json" ]'
check 'an agent: the secret is hidden' eval '! said secret'
check 'an agent: its home is not changed' eval '[ "$(cat "$HOME/.rc")" = rc ] && [ -d "$HOME/d/e" ]'
if line home enforced; then
	check 'an agent: its home seems changed' eval 'said changed && said replaced'
	said again || skip 'an agent: a directory of the host is not removed in its home (before Linux 6.6)'
else
	skip 'an agent: no writable overlay'
fi
mv "$base/ws/codex" "$base/ws/other"
(cd "$base/ws" && exec "$SBX" exec --spec "$base/spec.json" -- "$base/ws/other") >"$base/stdout" 2>"$base/err" </dev/null
check 'control: no agent, and the home is closed' eval 'said end && ! said changed && ! said own'

# A listener of this machine's own, on its loopback.
port=18$((who % 1000 + 100))
mkdir -p "$base/www"
echo reached >"$base/www/index.html"
"$box" httpd -f -p "127.0.0.1:$port" -h "$base/www" &
httpd=$!
sleep 1
try='printf "GET /index.html HTTP/1.0\r\n\r\n" | '"$box"' nc -w 3 127.0.0.1 '$port'; echo end'
run '{"network": {"mode": "host"}}' "$try"
if said reached; then
	ok 'control: the host is reached'
	run '{"network": {"mode": "none"}}' "$try"
	check 'network none: nothing is reached' eval 'said end && ! said reached'
	check 'network none: enforced, says the record' line network enforced
else
	skip 'network: the control does not reach its own listener'
fi
kill "$httpd" 2>/dev/null
wait "$httpd" 2>/dev/null

sleep 301 &
other=$!
try='kill -0 '$other' && echo seen; [ -d /proc/self ] && echo end'
run '{}' "$try"
check 'control: another process is seen' said seen
run "$ro" "$try"
check 'read-only: another process is not' eval 'said end && ! said seen'
kill "$other"

# Never less than asked: what cannot be enforced refuses, or its line says enforced.
for f in '"limits": {"memory": "1GiB"}' '"limits": {"pids": 4096}' '"max_commands": 100' '"network": {"mode": "allow"}' '"max_turns": 3'; do
	run "{\"access_mode\": \"read-only\", $f}" 'echo ran'
	field=$(echo "$f" | tr -d '"{} ' | sed 's/:\([a-z]*\):.*/.\1/; s/:.*//; s/network.mode/network/')
	if said ran; then
		check "$field: ran, so it is enforced" eval 'flat | tr "{" "\n" | grep -F "\"field\":\"$field" | grep -qF "\"status\":\"enforced\""'
	else
		check "$field: refused with 125" test "$status" = 125
		check "$field: the refusal is recorded" state refused
	fi
done

# Limits, where a control group can be had; else the refusal is the one above.
hog='(x=aaaaaaaa; i=0; while [ $i -lt 23 ]; do x=$x$x; i=$((i+1)); done; echo fat); echo end'
run '{"access_mode": "read-only"}' "$hog"
check 'control: a process has 64 MiB' eval 'said fat && said end'
run '{"access_mode": "read-only", "limits": {"memory": "24MiB"}}' "$hog"
if [ "$status" != 125 ]; then
	check 'limits.memory: it is ended, the rest goes on' eval 'said end && ! said fat'
	check 'limits.memory: the violation is recorded' eval 'flat | grep -qF "\"rule\":\"limits.memory: 24MiB\""'
fi
# A session's group has other processes: the default bound is in a group beneath it.
session=/sys/fs/cgroup/sbx-smoke-session
if [ "$who" = 0 ] && grep -qw pids /sys/fs/cgroup/cgroup.controllers 2>/dev/null &&
	echo +pids >/sys/fs/cgroup/cgroup.subtree_control && mkdir "$session" && echo $$ >"$session/cgroup.procs"; then
	most='read -r g </proc/self/cgroup; cat "/sys/fs/cgroup${g#0::}/pids.max" && echo end'
	check 'a session: control, it has no bound' test "$(sh -c "$most" | head -n 1)" = max
	run '{}' "$most"
	check 'a session: processes are bounded' eval 'said end && ! said max && flat | grep -qF "pids cgroup, v2"'
	check 'a session: its group is as it was' eval '[ "$(cat "$session/cgroup.type")" = domain ] && [ -z "$(cat "$session/cgroup.subtree_control")" ]'
	echo $$ >/sys/fs/cgroup/cgroup.procs
	rmdir "$session"
else
	skip 'a session: no pids controller of version 2 for this user'
fi
run '{"access_mode": "read-only", "limits": {"timeout": "1s"}}' 'echo ran; while :; do :; done'
check 'limits.timeout: 124' eval '[ "$status" = 124 ] && said ran'

run '{"acces_mode": "read-only"}' 'echo ran'
check 'a misspelt field: 125, nothing ran' eval '[ "$status" = 125 ] && ! said ran'
check 'a misspelt field: the one that was meant' grep -q access_mode "$base/err"

# The sandbox dies with its supervisor.
printf '%s\n' "$ww" >"$base/spec.json"
(cd "$base/ws" && exec "$SBX" exec --spec "$base/spec.json" --effective "$base/rec.json" -- "$box" sleep "$nap") >/dev/null 2>&1 &
sup=$!
alive() { "$box" ps -o args 2>/dev/null | grep -q "^[^ ]*busybox sleep $nap$"; }
n=0
until alive || [ $n -ge 20 ]; do sleep 0.2 2>/dev/null || sleep 1; n=$((n + 1)); done
if alive; then
	kill -9 $sup
	wait $sup 2>/dev/null
	n=0
	while alive && [ $n -lt 20 ]; do sleep 0.2 2>/dev/null || sleep 1; n=$((n + 1)); done
	check 'killed supervisor: no process is left' eval '! alive'
else
	bad 'killed supervisor: the command never started'
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
