#!/bin/sh
# Runs every test, then says once more which were left out and why: go test itself keeps quiet about skipped ones.
# What it printed in full is in .cache/test.log. Arguments are passed on to go test.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$here/../.."
mkdir -p .cache
log=.cache/test.log
failed=.cache/test.failed
rm -f "$failed"

# Without a C compiler there is no race detector; compiler.sh has said so. It leaves out the compression of texts, which
# shares nothing between goroutines and takes five times as long when it is watched.
race=
if command -v cc >/dev/null || command -v gcc >/dev/null; then
	race="-race -gcflags=github.com/klauspost/compress/flate=-race=false"
fi

# A pipe's exit status is that of its last command, so that of go test is handed on in a file.
# Vet is off because lint.sh has run it.
{ go test $race -vet=off -timeout 30m -v "$@" ./... 2>&1 || echo "go test ended with status $?" >"$failed"; } |
	tee "$log" |
	grep -Ev '^ *(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|SKIP))|^PASS$|no test files|left out: ' || true

left_out=$(sed -n 's/.*\(left out: \)/\1/p' "$log" | sort -u)
if [ -n "$left_out" ]; then
	echo
	echo "$left_out"
fi
if [ -e "$failed" ]; then
	cat "$failed" >&2
	exit 1
fi
