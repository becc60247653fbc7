#!/bin/sh
# Puts the GraphQL clients that the API is tested with into internal/clients/node_modules, in the versions of
# internal/clients/package-lock.json. They need Node.js 20 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="the clients' tests"
. "$here/leave-out.sh"
. "$here/npm.sh"

clients=$root/internal/clients
fetched "$clients" "$clients" && exit 0
need_node 20
fetch_packages "$clients" "$clients"
