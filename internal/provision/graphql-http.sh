#!/bin/sh
# Puts the audit of GraphQL over HTTP, the npm package graphql-http, into .cache/graphql-http. Its version and checksums are
# those of graphql-http/package-lock.json beside this file. It needs Node.js and npm.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
cache=$root/.cache/graphql-http
suite="the audit of GraphQL over HTTP"
. "$here/leave-out.sh"

if cmp -s "$here/graphql-http/package-lock.json" "$cache/stamp"; then
	exit 0
fi
command -v node >/dev/null && command -v npm >/dev/null || leave_out "$suite" "it needs Node.js and npm"

echo "fetching the audit of GraphQL over HTTP"
rm -rf "$cache"
mkdir -p "$cache"
cp "$here/graphql-http/package.json" "$here/graphql-http/package-lock.json" "$cache"
(cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) ||
	leave_out "$suite" "npm could not fetch it; its words are above"
cp "$here/graphql-http/package-lock.json" "$cache/stamp"
