#!/bin/sh
# Puts axe-core, which finds what is wrong with a page for people who see or move otherwise, and html-validate, which finds
# what is wrong with its HTML, into .cache/axe. Their versions and checksums are those of axe/package-lock.json beside this
# file. It needs npm. They are no development dependencies of a page: those packages are installed anew while the tests run.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
cache=$root/.cache/axe
suite="the rules of accessibility and of HTML"
. "$here/leave-out.sh"

if cmp -s "$here/axe/package-lock.json" "$cache/stamp"; then
	exit 0
fi
command -v npm >/dev/null || leave_out "$suite" "npm, which fetches axe-core and html-validate, is not installed"

echo "fetching axe-core and html-validate"
rm -rf "$cache"
mkdir -p "$cache"
cp "$here/axe/package.json" "$here/axe/package-lock.json" "$cache"
(cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) ||
	leave_out "$suite" "npm could not fetch them; its words are above"
cp "$here/axe/package-lock.json" "$cache/stamp"
