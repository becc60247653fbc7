#!/bin/sh
# Puts VitePress, which builds the documents into a site, and Mermaid, which draws their diagrams, into .cache/docs. Their
# versions and checksums are those of internal/docsite/package-lock.json. It needs Node.js 20.11 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="the documents as a site"
. "$here/leave-out.sh"
. "$here/npm.sh"

cache=$root/.cache/docs
fetched "$cache" "$root/internal/docsite" && exit 0
need_node 20
fetch_packages "$cache" "$root/internal/docsite"
