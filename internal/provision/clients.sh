#!/bin/sh
# Puts the GraphQL clients that the API is tested with into internal/clients/node_modules, in the versions of
# internal/clients/package-lock.json. They need Node.js 20 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
clients=$root/internal/clients
suite="the clients' tests"
. "$here/leave-out.sh"

if cmp -s "$clients/package-lock.json" "$clients/node_modules/stamp"; then
	exit 0
fi

command -v npm >/dev/null || leave_out "$suite" "npm, which fetches the clients, is not installed"
major=$(node -p 'process.versions.node.split(".")[0]') || major=0
[ "$major" -ge 20 ] || leave_out "$suite" "they need Node.js 20 or newer (found: $major)"

echo "fetching the clients that the API is tested with"
(cd "$clients" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) ||
	leave_out "$suite" "npm could not fetch them; its words are above"
cp "$clients/package-lock.json" "$clients/node_modules/stamp"
