#!/bin/sh
# manual.sh SBX DIR: writes man pages and completions into DIR, as the program
# SBX prints them: help, manual and completion have one source.
set -eu
sbx=$1
out=$2
mkdir -p "$out/man" "$out/completions"
"$sbx" man >"$out/man/sbx.1"
for verb in $("$sbx" help | sed -n '/Example/q; s/^  \([a-z]*\)  *[a-z].*/\1/p'); do
	"$sbx" man "$verb" >"$out/man/sbx-$verb.1"
done
for document in spec record; do
	"$sbx" man 5 "$document" >"$out/man/sbx-$document.5"
done
for other in sbx-dispatch sbx-broker; do
	program=$(dirname "$sbx")/$other
	[ ! -x "$program" ] || "$program" man >"$out/man/$other.1"
done
program=$(dirname "$sbx")/sbx-oci
[ ! -x "$program" ] || "$program" --sbx-manual >"$out/man/sbx-oci.1"
for shell in bash zsh fish; do
	"$sbx" completion "$shell" >"$out/completions/sbx.$shell"
	program=$(dirname "$sbx")/sbx-broker
	[ ! -x "$program" ] || "$program" completion "$shell" >"$out/completions/sbx-broker.$shell"
done
