#!/bin/sh
# Builds the emulator of AWS Lambda that runs the function in tests, at bin/aws-lambda-rie, from internal/provision/emulator: a
# module of its own, so that what it needs is in no list of the program.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="the function of AWS Lambda in its emulator"
. "$here/leave-out.sh"

stamp=$root/bin/aws-lambda-rie.stamp
mkdir -p "$root/bin"
if [ -x "$root/bin/aws-lambda-rie" ] && cat "$here/emulator.sh" "$here/emulator/go.mod" | cmp -s - "$stamp"; then
	exit 0
fi

echo "building the emulator of AWS Lambda"
(cd "$here/emulator" && CGO_ENABLED=0 nice go build -gcflags=all=-dwarf=false -ldflags='-s -w' -o "$root/bin/aws-lambda-rie" github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie) ||
	leave_out "$suite" "it could not be built; the words of go are above"
cat "$here/emulator.sh" "$here/emulator/go.mod" >"$stamp"
