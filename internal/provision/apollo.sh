#!/bin/sh
# Puts Apollo Server, which `make bench` measures the service beside, into internal/bench/apollo/node_modules, in the versions
# of internal/bench/apollo/package-lock.json. It needs Node.js 20 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
apollo=$root/internal/bench/apollo
suite="Apollo Server in the benchmarks"
. "$here/leave-out.sh"

if cmp -s "$apollo/package-lock.json" "$apollo/node_modules/stamp"; then
	exit 0
fi

command -v npm >/dev/null || leave_out "$suite" "npm, which fetches it, is not installed"
major=$(node -p 'process.versions.node.split(".")[0]') || major=0
[ "$major" -ge 20 ] || leave_out "$suite" "it needs Node.js 20 or newer (found: $major)"

echo "fetching Apollo Server"
(cd "$apollo" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) ||
	leave_out "$suite" "npm could not fetch it; its words are above"
cp "$apollo/package-lock.json" "$apollo/node_modules/stamp"
