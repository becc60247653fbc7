# Sourced by the scripts that run tests. It keeps temporary files in memory if there is room:
# otherwise the local engine waits for the disk half of its time.

# roomy FOLDER succeeds if a folder has room for the files of the tests, 4 GB, and programs in it
# can run.
roomy() (
	[ "$(df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print $4 }')" -gt 4000000 ] 2>/dev/null || exit 1
	try=$(mktemp -d "$1/talkback.XXXXXX") || exit 1
	trap 'rm -rf "$try"' EXIT
	echo '#!/bin/sh' >"$try/program"
	chmod +x "$try/program"
	"$try/program"
)

if [ -z "${TMPDIR:-}" ] && roomy /dev/shm 2>/dev/null; then
	export TMPDIR=/dev/shm
fi
