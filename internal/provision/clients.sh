#!/bin/sh
# Puts the GraphQL clients that the API is tested with into internal/clients/node_modules, and the gateways into
# internal/clients/gateway/node_modules, in the versions of package-lock.json there. They need Node.js 20 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="the clients' tests"
. "$here/leave-out.sh"
. "$here/npm.sh"

clients=$root/internal/clients
for folder in "$clients" "$clients/gateway"; do
	fetched "$folder" "$folder" && continue
	need_node 20
	fetch_packages "$folder" "$folder"
done
