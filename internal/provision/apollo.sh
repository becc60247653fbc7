#!/bin/sh
# Puts Apollo Server, which `make bench` measures the service beside, into internal/bench/apollo/node_modules, in the versions
# of internal/bench/apollo/package-lock.json. It needs Node.js 20 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="Apollo Server in the benchmarks"
. "$here/leave-out.sh"
. "$here/npm.sh"

apollo=$root/internal/bench/apollo
fetched "$apollo" "$apollo" && exit 0
need_node 20
fetch_packages "$apollo" "$apollo"
