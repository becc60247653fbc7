#!/bin/sh
# Runs every test but that of the architecture, which lint.sh runs, then says once more which were left out and why: go test
# itself keeps quiet about skipped ones. What it printed in full is in .cache/test.log. With --compile, it only compiles what
# the tests are made of. Other arguments are passed on to go test.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/race.sh"
cd "$here/../.."
mkdir -p .cache
log=.cache/test.log
failed=.cache/test.failed

# The architecture test reads all of the code and runs none of it; the runs of page numbers and the plans' costs are computed, one
# after the other: to watch these for races only takes time. The program that the browser visits is watched by its own tests.
computed="./internal/planbench ./internal/endtoend ./pageindex/runs"
packages=$(go list ./... | grep -Ev '/(internal/(arch|planbench|endtoend)|pageindex/runs)$')

if [ "${1:-}" = --compile ]; then
	if [ -n "${CI:-}${RACE:-}" ] && [ -z "$race" ]; then
		exit 0 # debian.sh may be about to install a compiler
	fi
	eval "exec go list $race -test -deps -export \$packages" >/dev/null
fi

. "$here/tmp.sh"

# The packages that take longest come first, so that none of them is left running alone at the end.
longest="./command ./dynamo/counts ./dynamo ./web ./web/component ./internal/clients ./internal/frameworks"
rm -f "$failed"
# Two packages more than processors, and twice as many parallel tests as processors of a small machine: most of them wait for
# processes of their own.
#
# A pipe's exit status is that of its last command, so that of go test is handed on in a file.
# Vet is off because lint.sh has run it.
packages_at_once=$(($(getconf _NPROCESSORS_ONLN) + 2))
tests() {
	go test -vet=off -p "$packages_at_once" -parallel 4 -timeout 60m -v "$@" 2>&1 || echo "go test ended with status $?" >"$failed"
}
show() {
	grep -Ev '^ *(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|SKIP))|^PASS$|no test files|left out: ' || true
}
# What is computed is compiled as `make build` compiles what they share. A pipe runs both at once, and an interrupt ends both.
{
	(export CGO_ENABLED=0 && eval "tests ${LEAN:-} "'"$@" $computed') >"$log.computed" | eval "tests $race "'"$@" $longest $packages'
	cat "$log.computed"
} | tee "$log" | show

# A few tests that failed are run once more, alone, so that one of them does not cost a run of half an hour. One that passes
# now is unsteady: the last lines say so, for that is a fault of the test or of what it tests, to be mended. What the race
# detector found stays a failure, as does a process that stopped.
again=$(awk -f "$here/failed.awk" "$log")
unsteady=
if [ -e "$failed" ] && [ -n "$again" ] && [ "$(echo "$again" | tr '|' '\n' | wc -l)" -le 5 ] && ! echo "$again" | grep -q '^whole '; then
	awk -f "$here/failures.awk" "$log"
	rm "$failed"
	unsteady=$(echo "$again" | sed 's/^/unsteady: failed among others and passed alone: /')
	echo "$again" | while read -r package pattern; do
		eval "tests $race "'-count 1 -run "$pattern" "$package"' </dev/null
	done | tee "$log.again" | show
fi

left_out=$(sed -n 's/.*\(left out: \)/\1/p' "$log" | sort -u)
if [ -n "$left_out" ]; then
	echo
	echo "$left_out"
fi
if [ -n "$unsteady" ] && ! [ -e "$failed" ]; then
	echo
	echo "$unsteady"
fi
if [ -e "$failed" ]; then
	echo
	awk -f "$here/failures.awk" "$log"
	cat "$failed" >&2
	exit 1
fi
