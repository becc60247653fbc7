#!/bin/sh
# Puts the audit of GraphQL over HTTP, the npm package graphql-http, into .cache/graphql-http. Its version and checksums are
# those of graphql-http/package-lock.json beside this file. It needs Node.js 20 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="the audit of GraphQL over HTTP"
. "$here/leave-out.sh"
. "$here/npm.sh"

cache=$root/.cache/graphql-http
fetched "$cache" "$here/graphql-http" && exit 0
need_node 20
fetch_packages "$cache" "$here/graphql-http"
