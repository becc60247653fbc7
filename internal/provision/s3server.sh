#!/bin/sh
# Builds the S3 server that tests of page numbers run, at bin/s3server, from internal/provision/s3server: a module of its
# own, so that what it needs is in no list of the program. Its source has a name that the go command and editors do not take
# for a package of this module.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="the S3 suite"
. "$here/leave-out.sh"

stamp=$root/bin/s3server.stamp
mkdir -p "$root/bin"
if [ -x "$root/bin/s3server" ] && cat "$here/s3server.sh" "$here/s3server/main.go.txt" "$here/s3server/go.sum" | cmp -s - "$stamp"; then
	exit 0
fi

echo "building the S3 server of tests"
source=$root/.cache/s3server
rm -rf "$source"
mkdir -p "$source"
cp "$here/s3server/go.mod" "$here/s3server/go.sum" "$source"
cp "$here/s3server/main.go.txt" "$source/main.go"
# What it has in common with the program, in the same versions, is compiled with the same flags, and so only once. What most of
# the rest comes from is not optimized: that takes longer than all its use in the tests.
rest=
for owner in gofiber nats-io segmentio valyala versity; do
	rest="$rest '-gcflags=github.com/$owner/...=-N -l -dwarf=false'"
done
(cd "$source" && eval "CGO_ENABLED=0 nice go build ${LEAN:--gcflags=all=-dwarf=false} $rest"' -ldflags="-s -w" -o "$root/bin/s3server" .') ||
	leave_out "$suite" "its server could not be built; the words of go are above"
cat "$here/s3server.sh" "$here/s3server/main.go.txt" "$here/s3server/go.sum" >"$stamp"
