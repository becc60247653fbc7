#!/bin/sh
# Builds the program that makes releases, at bin/talkback-release: a module of its own, so that what it needs is in no list
# of the program.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="releases"
. "$here/leave-out.sh"

source=$root/cmd/talkback-release
stamp=$root/bin/talkback-release.stamp
mkdir -p "$root/bin"
if [ -x "$root/bin/talkback-release" ] && cat "$source"/*.go "$source/go.sum" | cmp -s - "$stamp"; then
	exit 0
fi

echo "building talkback-release"
(cd "$source" && eval "CGO_ENABLED=0 nice go build ${LEAN:--gcflags=all=-dwarf=false}"' -ldflags="-s -w" -o "$root/bin/talkback-release" .') ||
	leave_out "$suite" "talkback-release could not be built; the words of go are above"
cat "$source"/*.go "$source/go.sum" >"$stamp"
