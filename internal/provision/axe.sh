#!/bin/sh
# Puts axe-core, which finds what is wrong with a page for people who see or move otherwise, and html-validate, which finds
# what is wrong with its HTML, into .cache/axe. Their versions and checksums are those of axe/package-lock.json beside this
# file. It needs Node.js 20 or newer. They are no development dependencies of a page: those packages are installed anew while
# the tests run.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="the rules of accessibility and of HTML"
. "$here/leave-out.sh"
. "$here/npm.sh"

cache=$root/.cache/axe
fetched "$cache" "$here/axe" && exit 0
need_node 20
fetch_packages "$cache" "$here/axe"
