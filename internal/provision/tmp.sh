# Read by the scripts that run tests: their files are kept in memory, where there is room. Half of its time, the local engine
# waits for the disk.

# roomy FOLDER tells whether a folder has room for what the tests write, 4 GB, and may hold programs that run.
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
