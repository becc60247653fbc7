#!/bin/sh
# Puts the linters of schema.graphqls, and what finds breaking changes of it, into internal/contract/node_modules, in the versions
# of package-lock.json there. They need Node.js 20 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="the lint of the schema"
. "$here/leave-out.sh"
. "$here/npm.sh"

contract=$root/internal/contract
fetched "$contract" "$contract" && exit 0
need_node 20
fetch_packages "$contract" "$contract"
