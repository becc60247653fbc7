#!/bin/sh
# Puts the frameworks that the element is tested in into .cache/frameworks, in the versions of
# internal/frameworks/package-lock.json. They need Node.js 20 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="the frameworks' tests"
. "$here/leave-out.sh"
. "$here/npm.sh"

cache=$root/.cache/frameworks
fetched "$cache" "$root/internal/frameworks" && exit 0
need_node 20
fetch_packages "$cache" "$root/internal/frameworks"
