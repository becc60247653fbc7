#!/bin/sh
# Runs every test except the architecture test, which lint.sh runs. Then it repeats which tests were
# left out and why, because go test does not print skipped ones. The full output is in
# .cache/test.log. With --compile, it only compiles the tests' packages. Other arguments go to go
# test.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/race.sh"
cd "$here/../.."
mkdir -p .cache
log=.cache/test.log
failed=.cache/test.failed

# These only compute, in one goroutine, so the race detector would only cost time. The architecture
# test reads the code and runs none of it. The browser tests start the program as a process, which
# other tests watch.
computed="./internal/planbench ./internal/endtoend ./pageindex/runs"
packages=$(go list ./... | grep -Ev '/(internal/(arch|planbench|endtoend)|pageindex/runs)$')

if [ "${1:-}" = --compile ]; then
	if [ -n "${CI:-}${RACE:-}" ] && [ -z "$race" ]; then
		exit 0 # debian.sh may be about to install a compiler
	fi
	eval "exec go list $race -test -deps -export \$packages" >/dev/null
fi

. "$here/tmp.sh"

# The slowest packages come first, so that none runs alone at the end.
longest="./command ./dynamo/counts ./dynamo ./web ./web/component ./internal/clients ./internal/frameworks"
rm -f "$failed"
# Two packages more than processors run at once, and twice as many parallel tests as a small machine
# has processors, because most tests wait for processes of their own.
#
# A pipe has the exit status of its last command, so a file hands on that of go test. Vet is off
# because lint.sh runs it.
packages_at_once=$(($(getconf _NPROCESSORS_ONLN) + 2))
tests() {
	go test -vet=off -p "$packages_at_once" -parallel 4 -timeout 60m -v "$@" 2>&1 || echo "go test ended with status $?" >"$failed"
}
show() {
	grep -Ev '^ *(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|SKIP))|^PASS$|no test files|left out: ' || true
}
# The packages in computed get the flags of `make build`, with which they share packages. A pipe
# runs both commands at once, and an interrupt ends both.
{
	(export CGO_ENABLED=0 && eval "tests ${LEAN:-} "'"$@" $computed') >"$log.computed" | eval "tests $race "'"$@" $longest $packages'
	cat "$log.computed"
} | tee "$log" | show

# Up to five failed tests run once more, alone, so that one of them does not cost a run of half an
# hour. The last lines name those that pass now as unsteady: the test, or the code that it tests,
# has a fault. Data races and processes that stopped stay failures.
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
