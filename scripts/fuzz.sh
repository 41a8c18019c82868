#!/bin/bash
# A short run of each fuzzer, one after another; FUZZTIME each. What one finds
# is kept by go in the package's testdata/fuzz and fails the tests from then on.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${FUZZTIME:-10s}
found=0
failed=0
while read -r file name; do
	found=$((found + 1))
	dir=$(dirname "$file")
	echo "fuzz: $dir $name"
	go test -tags urfave_cli_no_docs -run '^$' -fuzz "^$name\$" -fuzztime "$time" "./$dir" </dev/null || failed=$((failed + 1))
done < <(git ls-files --cached --others --exclude-standard '*_test.go' |
	xargs -r grep -Ho '^func Fuzz[A-Za-z0-9_]*' | sed 's/:func / /')
if [ "$found" = 0 ]; then
	echo "fuzz: no fuzzer was found" >&2
	exit 1
fi
echo "$((found - failed)) passed, $failed failed"
[ "$failed" = 0 ]
